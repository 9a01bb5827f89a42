/** The contract for a kind of agent; `DriverProvider` makes a `CliProvider` of it. */
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
import type { StartLimit } from './base/start-limit.ts';
import type { ProjectTrust } from './project-settings.ts';
import type {
  AgentCapabilities,
  AgentIntroduction,
  ConversationRewind,
  ProjectGrants,
  SessionExit,
  SessionUpdate,
  SteerTarget,
  StoredConversation,
  StoredFork,
  StoredSession,
  StoredTurn,
} from './provider.ts';

/** A session's output. Errors of listeners do not reach the session. */
export interface SessionOutput {
  /** Emits one event of a turn (`TurnWriter` makes them). A turn ends before the session does. */
  emit(draft: EventDraft): void;
  /** Updates besides the turns. Those from before the session is open are delivered once it is. */
  update(update: SessionUpdate): void;
  /** The session is over, requested or not: called once, and last. */
  exit(exit: SessionExit): void;
}

/** What is known of a session that is opened again. */
export interface EarlierSession<Memory = unknown> {
  /** The agent's own id for the session, if it differs from ours. */
  agentSessionId?: string | undefined;
  /** The `memory` of the earlier session of this id on this server. */
  memory?: Memory | undefined;
  /** The agent's `storedMark` at the time when history had all that it had stored. */
  storedMark?: string | undefined;
  /** Whether the session has had an answer before. */
  hasAnswered?: (() => Promise<boolean>) | undefined;
  /** A turn was cut off while it waited for a person: it goes on. */
  goesOn?: boolean | undefined;
  /** What Liminal has of the conversation. */
  stored?: StoredConversation | undefined;
}

export interface SessionOpening<Memory = unknown> {
  readonly sessionId: string;
  /** Absolute path of an existing folder. */
  readonly projectDir: string;
  /** Real paths of folders beside it in which the agent may work. */
  readonly additionalDirectories?: readonly string[] | undefined;
  /** Config options by id, as `setConfigOption` would take them. */
  readonly config: Record<string, string>;
  /** Absent for a new session; else the session is continued, or refused with `SESSION_NOT_FOUND`. */
  readonly earlier?: EarlierSession<Memory>;
  readonly output: SessionOutput;
  /** What people have allowed for good in the project. */
  readonly grants?: ProjectGrants | undefined;
  /** Absent: settings of the project are not used, if they run or permit anything. */
  readonly projectTrust?: ProjectTrust | undefined;
  /** For this session, beside the driver's own; one of the same name takes its place. They may hold secrets. */
  readonly mcpServers?: McpServers | undefined;
  /** What the session's clients have open, for agents that do not read and write the disk themselves. */
  readonly files?: ClientFiles | undefined;
  readonly terminals?: ClientTerminals | undefined;
  /** Aborts when the session is no longer wanted: `open` then rejects, and leaves nothing behind. */
  readonly signal: AbortSignal;
}

/** An open session with its agent, over all of its turns. Its methods reject with ProviderError. */
export interface AgentSession<Memory = unknown> {
  /** False once it is being closed or its process has ended. */
  readonly isAlive: boolean;
  /** The agent's own id for the session, if it differs from ours. */
  readonly agentSessionId?: string;
  /** The agent's own id for the turn that runs, if it differs from ours. */
  readonly agentTurnId?: string | undefined;
  /** What else opening the session again needs. It outlives the session. */
  readonly memory?: Memory;
  /** The earlier turns that the agent reported when it loaded the session, if it did. */
  readonly told?: Promise<StoredTurn[]>;
  /** What a message may have besides its text and links; only text if absent. */
  readonly accepts?: AcceptedContent;

  /**
   * Sends a user message and resolves when its turn has begun: `response_start` and the message itself are emitted.
   * `blocks` are of kinds that it `accepts`, with their bytes. `PROCESS_CRASH` if the process has ended, unless it was
   * given the message before: that is a turn, which ends with it. `TURN_IN_PROGRESS`.
   */
  send(message: string, turnId: string, blocks: readonly ContentBlock[]): Promise<void>;
  /** Asks the running turn, if any, to stop; it ends as cancelled. `INTERRUPT_FAILED`. */
  cancel(): Promise<void>;
  /** Ends the agent and all that it started; a running turn first ends as cancelled. Calling it twice is no error. */
  close(): Promise<void>;

  /**
   * Gives the agent a message for the turn that runs, and resolves when that is emitted (`TurnWriter.steer`). The session
   * says later what the agent did with it; a message that the agent comes to only after the turn is withdrawn there, and
   * begins a turn with its own id. `NOTHING_TO_STEER`, `PROCESS_CRASH`.
   */
  steer?(message: string, to: SteerTarget, blocks: readonly ContentBlock[]): Promise<void>;

  /** `APPROVAL_NOT_FOUND` once the request is over, `INVALID_OPTION`. */
  answerApproval?(approvalId: string, answer: ApprovalAnswer): Promise<void>;
  /** `INVALID_OPTION` for an unknown id or value. */
  setConfigOption?(id: string, value: string): Promise<void>;
  /**
   * Lets the agent work in these folders beside its project's, and in no other ones, from the next turn on. Resolves to
   * false if the agent must be started anew for that. `NOT_SUPPORTED`, `PROCESS_CRASH`.
   */
  setDirectories?(folders: readonly string[]): Promise<boolean>;
  /** Gives the session this title in the agent's own store. */
  rename?(title: string): Promise<void>;
  /**
   * Lets a running call go on beside the turn, or all that can; then it is one of `SessionUpdate.tasks`.
   * `TASK_NOT_FOUND`, `INTERRUPT_FAILED`.
   */
  background?(callId?: string): Promise<void>;
  /** Stops what runs beside the turns (`SessionUpdate.tasks`). `TASK_NOT_FOUND`, `INTERRUPT_FAILED`. */
  stopTask?(taskId: string): Promise<void>;
  /**
   * Changes files back to how they were before a turn, or with `dryRun` only says which. The agent knows what its own
   * tools have edited. Not called during a turn. `NO_CHECKPOINT`.
   */
  rewindFiles?(turnId: string, dryRun: boolean): Promise<RewindResult>;
  /**
   * Goes on from before these turns, with the next message and after the agent's end. Those that the agent never had are
   * passed over. Not called during a turn. `CANNOT_REWIND`, with nothing changed.
   */
  rewindConversation?(rewind: ConversationRewind): Promise<void>;
  /** The model's answer to a question beside the conversation, also during a turn. `NOT_ANSWERED`, `PROCESS_CRASH`. */
  aside?(question: string): Promise<string>;
  /** What holds in the session. `PROCESS_CRASH`. */
  setup?(): Promise<SessionSetup>;
  /** The agent's MCP servers as they are now. `PROCESS_CRASH`. */
  listMcpServers?(): Promise<McpServerState[]>;
  /** `INVALID_OPTION` for an unknown server, and where the agent does not do it; `PROCESS_CRASH`. */
  changeMcpServer?(name: string, action: McpAction): Promise<McpActionResult>;
}

/** One kind of agent. Every driver passes `testing/provider-suite.ts`. */
export interface AgentDriver<Memory = unknown> extends AgentCapabilities {
  readonly cliType: string;
  /** The name for people. */
  readonly name: string;
  /** Bounds how many sessions are opened at once; default two. Everything else that starts programs shares it. */
  readonly starts?: StartLimit;

  /** Opens a session, new or earlier. `SESSION_CREATE_FAILED`, `SESSION_NOT_FOUND`. */
  open(opening: SessionOpening<Memory>): Promise<AgentSession<Memory>>;
  /** Whether the agent can run here, or why not. Starts no session. */
  describe(): Promise<AgentInfo>;
  /** The folder of a session in the agent's own store, to open the session by its id alone. */
  findProjectDir?(agentSessionId: string): Promise<string | undefined>;
  /** Ends what the driver holds besides its sessions, which are closed at the same time. */
  close?(): Promise<void>;
}
