/** The contract that a driver for one kind of agent implements. */
import type {
  AcceptedContent,
  AgentInfo,
  ApprovalAnswer,
  ContentBlock,
  EventDraft,
  McpAction,
  McpActionResult,
  McpServers,
  McpServerState,
  RewindResult,
  SessionSetup,
} from '@liminal/protocol';
import type { ClientFiles } from './client-files.ts';
import type { ClientTerminals } from './client-terminals.ts';
import type { Semaphore } from './semaphore.ts';
import type { ProjectTrust } from './project-settings.ts';
import type {
  AgentCapabilities,
  ConversationRewind,
  ProjectGrants,
  SessionExit,
  SessionUpdate,
  SteerTarget,
  StoredConversation,
  StoredTurn,
} from './provider.ts';

/** A session's output. Errors of listeners do not reach the session. */
export interface SessionOutput {
  /** Emits one event of a turn (`TurnWriter` makes them). A turn ends before the session does. */
  emit(draft: EventDraft): void;
  /**
   * Reports a change that is about the session and not about a turn. Updates that are sent before the session is open
   * are delivered once the session is open.
   */
  update(update: SessionUpdate): void;
  /** Reports that the session has ended, requested or not. Called once, after all other calls. */
  exit(exit: SessionExit): void;
}

/** What Liminal has stored about a session that is opened again. */
export interface EarlierSession<Memory = unknown> {
  /** The agent's own id for the session, if it differs from Liminal's. */
  agentSessionId?: string | undefined;
  /** The `memory` that this session had when it last ended on this server. */
  memory?: Memory | undefined;
  /** The agent's `storedMark` when Liminal last read the agent's stored turns into history. */
  storedMark?: string | undefined;
  /** Whether the agent has ever answered in this session. */
  hasAnswered?: (() => Promise<boolean>) | undefined;
  /** Whether a turn was cut off while it waited for a person. If so, the session resumes the turn. */
  resuming?: boolean | undefined;
  /** The conversation as Liminal has stored it. */
  stored?: StoredConversation | undefined;
}

export interface SessionOpening<Memory = unknown> {
  readonly sessionId: string;
  /** Absolute path of an existing folder. */
  readonly projectDir: string;
  /** Real paths of further folders in which the agent may work. */
  readonly additionalDirectories?: readonly string[] | undefined;
  /** Config options by id, with values as for `setConfigOption`. */
  readonly config: Record<string, string>;
  /**
   * Absent for a new session. If the agent no longer has the earlier session, `open` rejects with `SESSION_NOT_FOUND`.
   */
  readonly earlier?: EarlierSession<Memory>;
  readonly output: SessionOutput;
  /** The permissions that people have granted permanently in the project. */
  readonly grants?: ProjectGrants | undefined;
  /** If absent, the agent does not use the project's settings that run or permit anything. */
  readonly projectTrust?: ProjectTrust | undefined;
  /**
   * MCP servers for this session, in addition to the driver's own servers. A server here replaces a server of the same
   * name. The entries may contain secrets.
   */
  readonly mcpServers?: McpServers | undefined;
  /** The files that the session's clients have open, for agents that do not access the disk themselves. */
  readonly files?: ClientFiles | undefined;
  readonly terminals?: ClientTerminals | undefined;
  /** Aborts when the session is no longer wanted: `open` then rejects and leaves nothing behind. */
  readonly signal: AbortSignal;
}

/** An open session of an agent, for all of its turns. Methods reject with ProviderError. */
export interface AgentSession<Memory = unknown> {
  /** False once the session is closing or its process has ended. */
  readonly isAlive: boolean;
  /** The agent's own id for the session, if it differs from Liminal's. */
  readonly agentSessionId?: string;
  /** The agent's own id for the running turn, if it differs from Liminal's. */
  readonly agentTurnId?: string | undefined;
  /** Further data that the driver needs to open the session again. Liminal keeps the data after the session ends. */
  readonly memory?: Memory;
  /** Set if the agent reports the session's earlier turns when it loads the session. */
  readonly reportedTurns?: Promise<StoredTurn[]>;
  /** The kinds of content that a message may have besides text and links; only text if absent. */
  readonly accepts?: AcceptedContent;

  /**
   * Sends a user message. Resolves when the message's turn has begun: `response_start` and the message itself are
   * emitted. The kind of each block is one that `accepts` lists, and each block contains its bytes. Rejects with
   * `TURN_IN_PROGRESS`, or with `PROCESS_CRASH` if the process has ended. If the process ended after receiving the
   * message, a turn begins and ends with the crash instead.
   */
  send(message: string, turnId: string, blocks: readonly ContentBlock[]): Promise<void>;
  /** Asks the running turn, if any, to stop; the turn ends as cancelled. `INTERRUPT_FAILED`. */
  cancel(): Promise<void>;
  /**
   * Ends the agent and all processes that the agent started; a running turn first ends as cancelled. May be called
   * twice.
   */
  close(): Promise<void>;

  /**
   * Sends the agent a message for the running turn. Resolves when the message is emitted (`TurnWriter.steer`). The
   * session reports later what the agent did with the message. If the agent reads the message only after the turn, the
   * message is withdrawn from that turn and begins a turn with its own id. `NOTHING_TO_STEER`, `PROCESS_CRASH`.
   */
  steer?(message: string, to: SteerTarget, blocks: readonly ContentBlock[]): Promise<void>;

  /**
   * Rejects with `APPROVAL_NOT_FOUND` if the request is no longer open, and with `INVALID_OPTION` for an unknown
   * option.
   */
  answerApproval?(approvalId: string, answer: ApprovalAnswer): Promise<void>;
  /** Rejects with `INVALID_OPTION` for an unknown id or value. */
  setConfigOption?(id: string, value: string): Promise<void>;
  /**
   * Replaces the folders besides the project's in which the agent may work, from the next turn on. Resolves to false if
   * the agent must be restarted for the change. `NOT_SUPPORTED`, `PROCESS_CRASH`.
   */
  setDirectories?(folders: readonly string[]): Promise<boolean>;
  /** Sets the session's title in the agent's own store. */
  rename?(title: string): Promise<void>;
  /**
   * Moves a running call, or without `callId` every call that can be moved, to the background. `SessionUpdate.tasks`
   * then lists the call. `TASK_NOT_FOUND`, `INTERRUPT_FAILED`.
   */
  background?(callId?: string): Promise<void>;
  /** Stops a background task (`SessionUpdate.tasks`). `TASK_NOT_FOUND`, `INTERRUPT_FAILED`. */
  stopTask?(taskId: string): Promise<void>;
  /**
   * Restores the files that the agent's own tools have edited to their state before a turn; with `dryRun`, only lists
   * them. Not called during a turn. `NO_CHECKPOINT`.
   */
  rewindFiles?(turnId: string, dryRun: boolean): Promise<RewindResult>;
  /**
   * Removes these turns: the next message continues the conversation from before them, also after the agent is
   * restarted. Turns that the agent never had are skipped. Not called during a turn. `CANNOT_REWIND`, with nothing
   * changed.
   */
  rewindConversation?(rewind: ConversationRewind): Promise<void>;
  /**
   * Answers a side question, also during a turn. The question does not become part of the conversation. `NOT_ANSWERED`,
   * `PROCESS_CRASH`.
   */
  aside?(question: string): Promise<string>;
  /** Returns the session's setup as the agent reports it. `PROCESS_CRASH`. */
  setup?(): Promise<SessionSetup>;
  /** Returns the current state of the agent's MCP servers. `PROCESS_CRASH`. */
  listMcpServers?(): Promise<McpServerState[]>;
  /**
   * Rejects with `INVALID_OPTION` for an unknown server or an action that the agent does not support, or with
   * `PROCESS_CRASH`.
   */
  changeMcpServer?(name: string, action: McpAction): Promise<McpActionResult>;
}

/** One kind of agent. Every driver passes `testing/provider-suite.ts`. */
export interface AgentDriver<Memory = unknown> extends AgentCapabilities {
  readonly cliType: string;
  /** The name that people see. */
  readonly name: string;
  /**
   * Limits how many sessions open at once; default two. Code that starts the agent's programs for other purposes also
   * uses this semaphore.
   */
  readonly starts?: Semaphore;

  /** Opens a session, new or earlier. `SESSION_CREATE_FAILED`, `SESSION_NOT_FOUND`. */
  open(opening: SessionOpening<Memory>): Promise<AgentSession<Memory>>;
  /** Returns whether the agent can run here, and why not. Starts no session. */
  describe(): Promise<AgentInfo>;
  /** Returns the folder of a session in the agent's own store, to open the session by its id alone. */
  findProjectDir?(agentSessionId: string): Promise<string | undefined>;
  /** Releases the driver's resources, except its sessions. The sessions are closed at the same time. */
  close?(): Promise<void>;
}
