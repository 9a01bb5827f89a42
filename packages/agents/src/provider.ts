/** The contract between Liminal and one kind of agent (seed 000, Provider Interface). */
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
  /** Real paths of folders beside it in which the agent may work; for an agent that `takesDirectories`. */
  additionalDirectories?: readonly string[];
  /** The id for the session, a UUID; the provider makes one by default. */
  sessionId?: string;
  /** Config options by id, as `setConfigOption` would take them. */
  config?: Record<string, string>;
  grants?: ProjectGrants;
  /** Absent: settings of the project are not used, if they run or permit anything. */
  projectTrust?: ProjectTrust;
  /** Beside those of the configuration; one of the same name takes its place. */
  mcpServers?: McpServers;
  files?: ClientFiles;
  terminals?: ClientTerminals;
}

export interface LoadSessionOptions {
  /** The session's folder; without it the provider looks for the session itself. */
  projectDir?: string;
  additionalDirectories?: readonly string[];
  /** The agent's own id for the session, if it differs from ours. */
  agentSessionId?: string;
  config?: Record<string, string>;
  /** The `storedMark` at the time when history had all that the agent had stored: it need not report that again. */
  storedMark?: string;
  /**
   * Whether the session has had an answer before. If the agent has lost it, a provider that can begins it anew and says
   * in its next turn that the agent does not remember; otherwise it rejects with `SESSION_NOT_FOUND`.
   */
  hasAnswered?: () => Promise<boolean>;
  /** A turn was cut off while it waited for a person's answer: the session goes on with it. */
  goesOn?: boolean;
  /** What Liminal has of the conversation. */
  stored?: StoredConversation;
  grants?: ProjectGrants;
  projectTrust?: ProjectTrust;
  mcpServers?: McpServers;
  files?: ClientFiles;
  terminals?: ClientTerminals;
}

/** What people have allowed for good in the session's project, for agents that keep no such thing themselves. */
export interface ProjectGrants {
  /** The rules as they are now: any session of the project adds some, and people take some back. Rejects if they cannot be read. */
  list(): Promise<string[]>;
  /** @param title - The rule for people. Rejects if it cannot be stored. */
  add(rule: string, title: string): Promise<void>;
}

/** A session's conversation as Liminal has it, for agents that keep nothing themselves. */
export interface StoredConversation {
  /**
   * The runs that have ended, oldest first; messages of the user have the bytes of their files. Runs that were taken back
   * have no items.
   */
  runs(): Promise<Response[]>;
}

/** How a conversation goes back. */
export interface ConversationRewind {
  /** The turns that are taken back, oldest first. */
  turnIds: readonly string[];
  /** The conversation without them, as `StoredConversation` gives it from then on. */
  kept: StoredConversation;
}

export interface ProviderSession {
  sessionId: string;
  cliType: string;
  /** The earlier turns that the agent reported when it loaded the session, if it did. */
  told?: Promise<StoredTurn[]>;
}

export interface SendMessageResult {
  /** The canonical id of the turn: every event of the turn carries it. */
  turnId: string;
}

/** An agent's report about a session outside its turns; absent fields have not changed. */
export interface SessionUpdate {
  title?: string;
  agentSessionId?: string;
  configOptions?: ConfigOption[];
  commands?: AgentCommand[];
  /** All present notices for people; they replace the earlier ones. */
  notices?: SessionNotice[];
  /** What the agent waits for while its turn is silent; '' for nothing. A turn's end clears it, too. */
  activity?: string;
  /** All that runs beside the turns. */
  tasks?: readonly BackgroundTask[];
  /** All windows of the agent's account that are known. */
  limits?: UsageLimit[];
  /** What a message may have besides its text. */
  accepts?: AcceptedContent;
  /** Whether it takes messages in the middle of a turn. */
  canSteer?: boolean;
}

/** The agent's process has ended; `code` and `message` say why, unless that was requested. */
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

/** An earlier turn from the agent's own store, as its live events would have been, terminal event included. */
export interface StoredTurn {
  turnId: string;
  events: EventDraft[];
  /** The turn that it follows, if known; none for a conversation's first. */
  after?: string;
  /** A resumed agent goes on from another turn's end and does not know this one: the conversation has forked. */
  isLeft?: boolean;
  /** The turn was copied from another session when this one was forked. */
  isCopied?: boolean;
}

/** A copy of a stored conversation. */
export interface StoredFork {
  /** The agent's own id for the new session; none if it keeps nothing of a session. */
  agentSessionId?: string;
  /** The ids that the original's stored turns have in the copy, by their own. */
  copies: ReadonlyMap<string, string>;
  /** The original's stored turns that the copy lacks, although they are older: it goes on from another branch. */
  left: ReadonlySet<string>;
}

/** An agent's answer to its start, and where the configuration does not fit it. */
export interface AgentIntroduction {
  /** Its own name. */
  name?: string;
  version?: string;
  /** Its protocol, with the version. */
  protocol: string;
  /** Its abilities besides answering, in words. */
  abilities: string[];
  /** Its ways to sign in, in its own words. */
  signIn: string[];
  /** In sentences for people. */
  problems: string[];
}

export type Unsubscribe = () => void;

/**
 * One kind of agent, by the ids of its sessions. It runs at most one turn per session at a time: the runtime queues.
 * `DriverProvider` makes one of an `AgentDriver`. Methods reject with ProviderError.
 */
export interface CliProvider extends AgentCapabilities {
  readonly cliType: string;

  /** Starts the agent for a new session; the process stays for the session's turns. `SESSION_CREATE_FAILED`. */
  createSession(options: CreateSessionOptions): Promise<ProviderSession>;
  /** Starts the agent on an existing session; if it already runs, gives that. `SESSION_NOT_FOUND`. */
  loadSession(sessionId: string, options?: LoadSessionOptions): Promise<ProviderSession>;
  /**
   * Sends a user message and resolves when the message is bound to its turn (the turn's `response_start` has been
   * emitted), before the turn completes. The turn's id is `options.turnId` if given. Its first item is the user's
   * message, whole, with its `blocks`: only the provider puts it into the log. A message that the agent was given has a
   * turn, even if the agent ends before it takes it up. `SESSION_NOT_FOUND`, `PROCESS_CRASH` if the process has ended,
   * `TURN_IN_PROGRESS`, `CONTENT_NOT_SUPPORTED` for blocks that the agent does not take.
   */
  sendMessage(
    sessionId: string,
    message: string,
    options?: { turnId?: string; blocks?: readonly ContentBlock[] },
  ): Promise<SendMessageResult>;
  /** Asks the running turn, if any, to stop; it ends as cancelled. `INTERRUPT_FAILED`. */
  cancelTurn(sessionId: string): Promise<void>;
  /** Ends the agent and all that it started; a running turn first ends as cancelled. Calling it twice is no error. */
  killSession(sessionId: string): Promise<void>;
  isAlive(sessionId: string): boolean;
  /** The agent's own id for the turn that runs, where it has one. */
  agentTurnId(sessionId: string): string | undefined;

  /**
   * Listeners may be added before the session exists, so that nothing is missed, and stay over kill and load. Those of
   * upserts and turns get a turn from its beginning or not at all.
   */
  onEvent(sessionId: string, callback: (event: EventDraft) => void): Unsubscribe;
  onUpsert(sessionId: string, callback: (upsert: UpsertObject) => void): Unsubscribe;
  onTurn(sessionId: string, callback: (event: TurnEvent) => void): Unsubscribe;
  onUpdate(sessionId: string, callback: (update: SessionUpdate) => void): Unsubscribe;
  onExit(sessionId: string, callback: (exit: SessionExit) => void): Unsubscribe;

  /** Whether the agent can run here, or why not. Starts no session. */
  describe(): Promise<AgentInfo>;
  /** Ends all its sessions and everything else that it holds. */
  close(): Promise<void>;

  /** Optional methods, besides those of `AgentCapabilities`. */
  /**
   * Gives the agent a message for the turn that runs, and resolves when its item (`steeredItem`) has been emitted.
   * `NOT_SUPPORTED`, `NOTHING_TO_STEER`, `CONTENT_NOT_SUPPORTED`, `PROCESS_CRASH`.
   */
  steer?(
    sessionId: string,
    message: string,
    options: SteerTarget & { blocks?: readonly ContentBlock[] },
  ): Promise<void>;
  /**
   * Answers a permission request; `content` fills in its form, if it has one, and `note` is for an option that takes
   * one. `APPROVAL_NOT_FOUND` once it is over, `INVALID_OPTION`.
   */
  answerApproval?(sessionId: string, approvalId: string, answer: ApprovalAnswer): Promise<void>;
  /** `INVALID_OPTION` for an unknown id or value. */
  setConfigOption?(sessionId: string, id: string, value: string): Promise<void>;
  /**
   * Lets an open session's agent work in these folders beside its project's, and in no other ones, from the next turn on.
   * Resolves to false if the agent must be started anew for that. `NOT_SUPPORTED`, `PROCESS_CRASH`.
   */
  setDirectories?(sessionId: string, folders: readonly string[]): Promise<boolean>;
  /** Gives an open session this title in the agent's own store. `NOT_SUPPORTED`. */
  rename?(sessionId: string, title: string): Promise<void>;
  /**
   * Lets a running call go on in the background, or all that can, so that the turn continues. `TASK_NOT_FOUND`,
   * `INTERRUPT_FAILED`, `NOT_SUPPORTED`.
   */
  background?(sessionId: string, callId?: string): Promise<void>;
  /** Stops what runs beside the turns. `TASK_NOT_FOUND`, `INTERRUPT_FAILED`. */
  stopTask?(sessionId: string, taskId: string): Promise<void>;
  /** Changes files back to how they were before a turn, or with `dryRun` only says which. `NO_CHECKPOINT`. */
  rewindFiles?(sessionId: string, turnId: string, dryRun: boolean): Promise<RewindResult>;
  /** Goes on from before these turns. `CANNOT_REWIND`, `NOT_SUPPORTED`. */
  rewindConversation?(sessionId: string, rewind: ConversationRewind): Promise<void>;
  /** The model's answer to a question beside the conversation. `NOT_ANSWERED`, `NOT_SUPPORTED`, `PROCESS_CRASH`. */
  aside?(sessionId: string, question: string): Promise<string>;
  /** What holds in an open session, by the agent itself. `NOT_SUPPORTED`, `PROCESS_CRASH`. */
  setup?(sessionId: string): Promise<SessionSetup>;
  /** The agent's MCP servers as they are now. `NOT_SUPPORTED`, `PROCESS_CRASH`. */
  listMcpServers?(sessionId: string): Promise<McpServerState[]>;
  /** `INVALID_OPTION`, `NOT_SUPPORTED`, `PROCESS_CRASH`. */
  changeMcpServer?(sessionId: string, name: string, action: McpAction): Promise<McpActionResult>;
}

/** The turn that a message is for, and the message's own id, a UUID. */
export interface SteerTarget {
  turnId: string;
  messageId: string;
}

/** Optional abilities of an agent besides its sessions. The provider of its driver has the same ones. */
export interface AgentCapabilities {
  /**
   * Whether opening a session ahead of a message saves time, or tells its settings; the runtime then does so while the
   * user types, and for clients that show settings when they open it.
   */
  readonly prewarms?: boolean;
  /** Whether its sessions can rewind files. */
  readonly rewinds?: boolean;
  /** Whether its sessions can have folders beside the project's; one that cannot after all refuses to be opened with them. */
  readonly takesDirectories?: boolean;
  /** Whether its sessions can rewind their conversation. */
  readonly rewindsConversation?: boolean;
  /** Whether its sessions list their MCP servers, and change them. */
  readonly managesMcp?: boolean;
  /** Whether its model can be asked beside the conversation. */
  readonly answersAside?: boolean;
  /** Whether its sessions list what holds in them. */
  readonly tellsSetup?: boolean;
  /** Whether its sessions can let running calls go on in the background. */
  readonly backgrounds?: boolean;
  /** Whether its sessions keep what people allow for good in their project's grants. */
  readonly usesGrants?: boolean;
  /**
   * Whether a turn that waits for a person goes on after agent and server have ended: a session that is opened again then
   * asks the same again, by the same ids, in a turn of its own (`EarlierSession.goesOn`).
   */
  readonly resumes?: boolean;
  /**
   * Whether `fork` copies a whole conversation, so that only the newest turn can be forked. `describe` then says whether the
   * agent forks at all.
   */
  readonly forksWhole?: boolean;
  /**
   * Whether the ids of stored turns are only numbers, so that turns must be matched by what was said. Such an agent can
   * report its stored turns only while it runs.
   */
  readonly numbersStoredTurns?: boolean;
  /**
   * What a project folder would make the agent run, or would permit it; undefined if nothing. Starts no process. Such
   * settings are used only if `SessionOpening.projectTrust` says so.
   */
  readProjectSettings?(projectDir: string): Promise<ProjectSettings | undefined>;
  /** Starts the agent up to its greeting, and ends it. Rejects with the reason if there is none within `limitMs`. */
  introduce?(limitMs: number): Promise<AgentIntroduction>;
  /**
   * Sessions in the agent's own store, newest first; of one folder, or all. `known` are project folders, for agents
   * that list sessions only by folder.
   */
  listStoredSessions?(projectDir?: string, known?: readonly string[]): Promise<StoredSession[]>;
  /**
   * The same from an agent that is running anyway; undefined if none is. An agent with this method starts a program for
   * `listStoredSessions`, which is then called only when a user asks for it.
   */
  peekStoredSessions?(known?: readonly string[]): Promise<StoredSession[] | undefined>;
  /**
   * Beside `peekStoredSessions`: the sessions that can be found on disk without a program, newest first. Titles may be
   * older than the agent's own.
   */
  scanStoredSessions?(): Promise<StoredSession[]>;
  /**
   * A mark that changes whenever others than Liminal add to a stored session, by the agent's id for it. Cheap, and
   * starts no process. Undefined if no such session is stored, or if the mark is unknown just now.
   */
  storedMark?(agentSessionId: string, projectDir: string): Promise<string | undefined>;
  /** The conversation as the agent stored it, oldest turn first. `SESSION_NOT_FOUND`. */
  readStoredHistory?(agentSessionId: string, projectDir: string): Promise<StoredTurn[]>;
  /**
   * Copies a stored conversation up to the end of a turn, as a session of its own that can be loaded. The original, which
   * may be at work on a later turn, stays as it is. `SESSION_NOT_FOUND`, `TURN_NOT_STORED`.
   */
  fork?(agentSessionId: string, projectDir: string, turnId: string): Promise<StoredFork>;
  /** Whether the file at a real path has the output of a background command of this session. */
  keepsOutput?(agentSessionId: string, path: string): boolean;
  /** Gives a stored session that is not open this title in the agent's own store. */
  renameStored?(agentSessionId: string, projectDir: string, title: string): Promise<void>;
}
