/** The contract of agents for programs without Liminal's runtime (seed 000, Provider Interface), and types of drivers. */
import type {
  AcceptedContent,
  AgentCommand,
  AgentInfo,
  ApprovalAnswer,
  BackgroundTask,
  ConfigOption,
  ContentBlock,
  EventDraft,
  McpAction,
  McpActionResult,
  McpServers,
  McpServerState,
  Response,
  RewindResult,
  SessionNotice,
  SessionSetup,
  TurnEvent,
  UpsertObject,
  UsageLimit,
} from '@liminal/protocol';
import type { ClientFiles } from './client-files.ts';
import type { ClientTerminals } from './client-terminals.ts';
import type { ProjectSettings, ProjectTrust } from './project-settings.ts';

export interface CreateSessionOptions {
  /** Absolute path of an existing folder. */
  projectDir: string;
  /** Real paths of further folders in which the agent may work. Only for an agent that `takesDirectories`. */
  additionalDirectories?: readonly string[];
  /** The session's id, a UUID. If absent, the provider generates an id. */
  sessionId?: string;
  /** Config options by id, with values as for `setConfigOption`. */
  config?: Record<string, string>;
  grants?: ProjectGrants;
  /** If absent, the agent does not use the project's settings that run or permit anything. */
  projectTrust?: ProjectTrust;
  /**
   * MCP servers for this session, in addition to the configured servers. A server here replaces a configured server of
   * the same name.
   */
  mcpServers?: McpServers;
  files?: ClientFiles;
  terminals?: ClientTerminals;
}

export interface LoadSessionOptions {
  /** The session's folder; if absent, the provider searches for the session. */
  projectDir?: string;
  additionalDirectories?: readonly string[];
  /** The agent's own id for the session, if it differs from Liminal's. */
  agentSessionId?: string;
  config?: Record<string, string>;
  /**
   * The agent's `storedMark` when Liminal last read the agent's stored turns into history: the agent need not report
   * those turns again.
   */
  storedMark?: string;
  /**
   * Whether the agent has ever answered in this session. If the agent has lost such a session, some providers begin a
   * new session and report in the next turn that the agent does not remember the conversation; other providers reject
   * with `SESSION_NOT_FOUND`.
   */
  hasAnswered?: () => Promise<boolean>;
  /** Whether a turn was cut off while it waited for a person's answer. If so, the session resumes the turn. */
  resuming?: boolean;
  /** The conversation as Liminal has stored it. */
  stored?: StoredConversation;
  grants?: ProjectGrants;
  projectTrust?: ProjectTrust;
  mcpServers?: McpServers;
  files?: ClientFiles;
  terminals?: ClientTerminals;
}

/** Permissions that people have granted permanently in the session's project, for agents that do not store them. */
export interface ProjectGrants {
  /**
   * Returns the present rules: all sessions of the project add rules, and people remove some. Rejects if the rules
   * cannot be read.
   */
  list(): Promise<string[]>;
  /** @param title - The rule in words for people. Rejects if the rule cannot be stored. */
  add(rule: string, title: string): Promise<void>;
}

/** A session's conversation as Liminal has stored it, for agents that store nothing themselves. */
export interface StoredConversation {
  /**
   * Returns the runs that have ended, oldest first; messages of the user have the bytes of their files. Runs that were
   * rewound have no items.
   */
  runs(): Promise<Response[]>;
}

/** The turns that a rewind of a conversation removes, and the conversation that remains. */
export interface ConversationRewind {
  /** The turns that are removed, oldest first. */
  turnIds: readonly string[];
  /** The conversation without the removed turns. */
  remaining: StoredConversation;
}

export interface ProviderSession {
  sessionId: string;
  cliType: string;
  /** Set if the agent reports the session's earlier turns when it loads the session. */
  reportedTurns?: Promise<StoredTurn[]>;
}

export interface SendMessageResult {
  /** The canonical id of the turn. Every event of the turn has this id. */
  turnId: string;
}

/** An agent's report about a session outside its turns; absent fields are unchanged. */
export interface SessionUpdate {
  title?: string;
  agentSessionId?: string;
  configOptions?: ConfigOption[];
  commands?: AgentCommand[];
  /** All current notices for people. These notices replace the earlier notices. */
  notices?: SessionNotice[];
  /** The agent's reason for waiting while its turn is silent; '' for none. The end of a turn also clears the reason. */
  activity?: string;
  /** All background tasks. */
  tasks?: readonly BackgroundTask[];
  /** All known usage windows of the agent's account. */
  limits?: UsageLimit[];
  /** The kinds of content that a message may have besides text. */
  accepts?: AcceptedContent;
  /** Whether the session accepts messages during a turn. */
  canSteer?: boolean;
}

/** The end of the agent's process; `code` and `message` give the reason, unless the end was requested. */
export interface SessionExit {
  expected: boolean;
  code?: string;
  message?: string;
}

/** A session in the agent's own store. Times are ISO 8601 UTC. */
export interface StoredSession {
  sessionId: string;
  projectDir: string;
  title: string;
  createdAt: string;
  updatedAt: string;
}

/** An earlier turn from the agent's own store, with the same events as a live turn, including the terminal event. */
export interface StoredTurn {
  turnId: string;
  events: EventDraft[];
  /** The preceding turn, if known; absent for a conversation's first turn. */
  after?: string;
  /**
   * Whether the conversation has forked: a resumed agent continued from another turn's end and does not know this turn.
   */
  isLeft?: boolean;
  /** Whether the turn was copied from another session by a fork. */
  isCopied?: boolean;
}

/** A copy of a stored conversation. */
export interface StoredFork {
  /** The agent's own id for the new session; absent if the agent stores no sessions. */
  agentSessionId?: string;
  /** Maps each stored turn's id in the original to the turn's id in the copy. */
  copies: ReadonlyMap<string, string>;
  /**
   * Older stored turns that the copy lacks: they belong to a branch of the original that the copy does not continue.
   */
  left: ReadonlySet<string>;
}

/**
 * An agent's report about itself when it starts, and the conflicts between the report and the agent's configuration.
 */
export interface AgentIntroduction {
  /** The agent's own name. */
  name?: string;
  version?: string;
  /** The agent's protocol, with the version. */
  protocol: string;
  /** The agent's optional abilities, in words for people. */
  abilities: string[];
  /** The agent's ways to sign in, in the agent's own words. */
  signIn: string[];
  /** Conflicts with the configuration, in sentences for people. */
  problems: string[];
}

export type Unsubscribe = () => void;

/**
 * One kind of agent. Methods expect the ids of the agent's sessions, and reject with ProviderError. A session runs at
 * most one turn at a time; the caller queues messages. `DriverProvider` turns an `AgentDriver` into a provider.
 */
export interface CliProvider extends AgentCapabilities {
  readonly cliType: string;

  /** Starts the agent for a new session; the process serves all turns of the session. `SESSION_CREATE_FAILED`. */
  createSession(options: CreateSessionOptions): Promise<ProviderSession>;
  /**
   * Starts the agent on an existing session, or returns the session if the session is already open.
   * `SESSION_NOT_FOUND`.
   */
  loadSession(sessionId: string, options?: LoadSessionOptions): Promise<ProviderSession>;
  /**
   * Sends a user message. Resolves when the message is bound to its turn (the turn's `response_start` has been
   * emitted), before the turn completes. The turn's id is `options.turnId` if given. The turn's first item is the
   * user's whole message with its `blocks`: only the provider puts the message into the log. Once the agent has the
   * message, the message has a turn, even if the agent ends before handling the message. Rejects with
   * `SESSION_NOT_FOUND`, `TURN_IN_PROGRESS`, `PROCESS_CRASH` if the process has ended, or `CONTENT_NOT_SUPPORTED` for
   * blocks that the agent does not accept.
   */
  sendMessage(
    sessionId: string,
    message: string,
    options?: { turnId?: string; blocks?: readonly ContentBlock[] },
  ): Promise<SendMessageResult>;
  /** Asks the running turn, if any, to stop; the turn ends as cancelled. `INTERRUPT_FAILED`. */
  cancelTurn(sessionId: string): Promise<void>;
  /**
   * Ends the agent and all processes that the agent started; a running turn first ends as cancelled. May be called
   * twice.
   */
  killSession(sessionId: string): Promise<void>;
  isAlive(sessionId: string): boolean;
  /** Returns the agent's own id for the running turn, if the agent has one. */
  agentTurnId(sessionId: string): string | undefined;

  /**
   * Listeners may be added before the session exists, so that they miss nothing, and remain after kill and load.
   * Listeners of upserts and turns get a turn from its beginning or not at all.
   */
  onEvent(sessionId: string, callback: (event: EventDraft) => void): Unsubscribe;
  onUpsert(sessionId: string, callback: (upsert: UpsertObject) => void): Unsubscribe;
  onTurn(sessionId: string, callback: (event: TurnEvent) => void): Unsubscribe;
  onUpdate(sessionId: string, callback: (update: SessionUpdate) => void): Unsubscribe;
  onExit(sessionId: string, callback: (exit: SessionExit) => void): Unsubscribe;

  /** Returns whether the agent can run here, and why not. Starts no session. */
  describe(): Promise<AgentInfo>;
  /** Ends all sessions of this agent and releases the provider's other resources. */
  close(): Promise<void>;

  /** Optional methods, besides those of `AgentCapabilities`. */
  /**
   * Sends a message into the running turn and resolves when its item (`steeredItemId`) has been emitted.
   * `NOT_SUPPORTED`, `NOTHING_TO_STEER`, `CONTENT_NOT_SUPPORTED`, `PROCESS_CRASH`.
   */
  steer?(
    sessionId: string,
    message: string,
    options: SteerTarget & { blocks?: readonly ContentBlock[] },
  ): Promise<void>;
  /**
   * Answers a permission request; `content` fills in the request's form, if any, and `note` belongs to an option that
   * accepts a note. Rejects with `APPROVAL_NOT_FOUND` once the request is over, and with `INVALID_OPTION` for an
   * unknown option.
   */
  answerApproval?(sessionId: string, approvalId: string, answer: ApprovalAnswer): Promise<void>;
  /** Rejects with `INVALID_OPTION` for an unknown id or value. */
  setConfigOption?(sessionId: string, id: string, value: string): Promise<void>;
  /**
   * Replaces the folders besides the project's in which an open session's agent may work, from the next turn on.
   * Resolves to false if the agent must be restarted for the change. `NOT_SUPPORTED`, `PROCESS_CRASH`.
   */
  setDirectories?(sessionId: string, folders: readonly string[]): Promise<boolean>;
  /** Sets an open session's title in the agent's own store. `NOT_SUPPORTED`. */
  rename?(sessionId: string, title: string): Promise<void>;
  /**
   * Moves a running call, or every call that can be moved, to the background, so that the turn continues.
   * `TASK_NOT_FOUND`, `INTERRUPT_FAILED`, `NOT_SUPPORTED`.
   */
  background?(sessionId: string, callId?: string): Promise<void>;
  /** Stops a background task. `TASK_NOT_FOUND`, `INTERRUPT_FAILED`. */
  stopTask?(sessionId: string, taskId: string): Promise<void>;
  /** Restores files to their state before a turn; with `dryRun`, only lists them. `NO_CHECKPOINT`. */
  rewindFiles?(sessionId: string, turnId: string, dryRun: boolean): Promise<RewindResult>;
  /** Removes turns: the next message continues the conversation from before them. `CANNOT_REWIND`, `NOT_SUPPORTED`. */
  rewindConversation?(sessionId: string, rewind: ConversationRewind): Promise<void>;
  /** Returns the model's answer to a side question. `NOT_ANSWERED`, `NOT_SUPPORTED`, `PROCESS_CRASH`. */
  aside?(sessionId: string, question: string): Promise<string>;
  /** Returns the setup of an open session as the agent reports it. `NOT_SUPPORTED`, `PROCESS_CRASH`. */
  setup?(sessionId: string): Promise<SessionSetup>;
  /** Returns the current state of the agent's MCP servers. `NOT_SUPPORTED`, `PROCESS_CRASH`. */
  listMcpServers?(sessionId: string): Promise<McpServerState[]>;
  /** `INVALID_OPTION`, `NOT_SUPPORTED`, `PROCESS_CRASH`. */
  changeMcpServer?(sessionId: string, name: string, action: McpAction): Promise<McpActionResult>;
}

/** The target turn of a message, and the message's own id, a UUID. */
export interface SteerTarget {
  turnId: string;
  messageId: string;
}

/** Optional abilities of an agent besides its sessions. A driver and its provider have the same abilities. */
export interface AgentCapabilities {
  /**
   * Whether opening a session before its first message saves time or reveals settings. If true, the runtime opens a
   * session as soon as the user types, or when a client that shows settings opens the session.
   */
  readonly prewarms?: boolean;
  /** Whether sessions can rewind files. */
  readonly rewinds?: boolean;
  /**
   * Whether the agent's sessions can have folders besides the project's. If an agent turns out not to support further
   * folders, opening the session fails.
   */
  readonly takesDirectories?: boolean;
  /** Whether sessions can rewind their conversation. */
  readonly rewindsConversation?: boolean;
  /** Whether sessions list their MCP servers, and change them. */
  readonly managesMcp?: boolean;
  /** Whether the model answers side questions. Side questions do not become part of the conversation. */
  readonly answersAside?: boolean;
  /** Whether sessions report their setup. */
  readonly tellsSetup?: boolean;
  /** Whether sessions can move running calls to the background. */
  readonly backgrounds?: boolean;
  /** Whether sessions store permanent permissions in their project's `ProjectGrants`. */
  readonly usesGrants?: boolean;
  /**
   * Whether a turn that waits for a person survives the end of agent and server: a session that is opened again repeats
   * the questions, with the same ids, in a new turn (`EarlierSession.resuming`).
   */
  readonly resumes?: boolean;
  /**
   * Whether `fork` copies a whole conversation, so that only the newest turn can be forked. If true, `describe` reports
   * whether the agent can fork sessions.
   */
  readonly forksWhole?: boolean;
  /**
   * Whether the ids of stored turns are only numbers, so that turns must be matched by their messages. An agent with
   * such ids can report its stored turns only while it runs.
   */
  readonly numbersStoredTurns?: boolean;
  /**
   * Returns the settings in a project folder that would make the agent run or permit something; undefined if there are
   * none. Starts no process. The agent uses the project's settings only if `SessionOpening.projectTrust` allows it.
   */
  readProjectSettings?(projectDir: string): Promise<ProjectSettings | undefined>;
  /**
   * Starts the agent up to its greeting, then ends it. Rejects with the reason if no greeting comes within `limitMs`.
   */
  introduce?(limitMs: number): Promise<AgentIntroduction>;
  /**
   * Sessions in the agent's own store, newest first; of one folder, or of all. `known` are project folders, for agents
   * that list sessions only by folder.
   */
  listStoredSessions?(projectDir?: string, known?: readonly string[]): Promise<StoredSession[]>;
  /**
   * Like `listStoredSessions`, but asks only an agent that is already running; undefined if no agent is running. For an
   * agent with this method, `listStoredSessions` starts a program and is called only when a user asks for the list.
   */
  peekStoredSessions?(known?: readonly string[]): Promise<StoredSession[] | undefined>;
  /**
   * Complements `peekStoredSessions`: lists the sessions that Liminal finds on disk without starting the agent's
   * program, newest first. The agent may have newer titles.
   */
  scanStoredSessions?(): Promise<StoredSession[]>;
  /**
   * Returns a mark that changes whenever a program other than Liminal adds to a stored session. `agentSessionId` is the
   * agent's own id for the session. The call is cheap, and starts no process. Undefined if no such session is stored,
   * or if the mark is not known at the moment.
   */
  storedMark?(agentSessionId: string, projectDir: string): Promise<string | undefined>;
  /** Returns the conversation from the agent's own store, oldest turn first. `SESSION_NOT_FOUND`. */
  readStoredHistory?(agentSessionId: string, projectDir: string): Promise<StoredTurn[]>;
  /**
   * Copies a stored conversation, up to the end of a turn, into a new session. The new session can be loaded. The
   * original session may be working on a later turn, and does not change. `SESSION_NOT_FOUND`, `TURN_NOT_STORED`.
   */
  fork?(agentSessionId: string, projectDir: string, turnId: string): Promise<StoredFork>;
  /** Returns whether the file at a real path has the output of a background command of this session. */
  isTaskOutput?(agentSessionId: string, path: string): boolean;
  /** Sets the title, in the agent's own store, of a stored session that is not open. */
  renameStored?(agentSessionId: string, projectDir: string, title: string): Promise<void>;
}
