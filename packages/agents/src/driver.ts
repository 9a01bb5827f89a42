/** What the author of an agent writes; `DriverProvider` makes a `CliProvider` of it. */
import type { AgentInfo, ApprovalAnswer, EventDraft } from '@liminal/protocol';
import type { StartLimit } from './base/start-limit.ts';
import type {
  AgentIntroduction,
  SessionExit,
  SessionUpdate,
  StoredSession,
  StoredTurn,
} from './provider.ts';

/** Where a session says all that it has to say. Listeners that fail are no concern of the session's. */
export interface SessionOutput {
  /** One event of a turn (`TurnWriter` makes them). A turn has ended before the session does. */
  emit(draft: EventDraft): void;
  /** News beside the turns. What is told while the session is being opened is delivered once it is open. */
  update(update: SessionUpdate): void;
  /** The session is over, asked to or not: said once, and last. */
  exit(exit: SessionExit): void;
}

/** What is known of a session that is opened again. */
export interface EarlierSession<Memory = unknown> {
  /** The agent's own id for the session, where it is not ours. */
  agentSessionId?: string | undefined;
  /** The `memory` of the session of this id that ran here before. */
  memory?: Memory | undefined;
  /** The agent's `storedMark` when all that it had stored was known. */
  storedMark?: string | undefined;
  /** Whether something was said in it before. */
  hasHistory?: (() => Promise<boolean>) | undefined;
}

export interface SessionOpening<Memory = unknown> {
  readonly sessionId: string;
  /** Absolute path of an existing folder. */
  readonly projectDir: string;
  /** Config options by id, as `setConfigOption` would take them. */
  readonly config: Record<string, string>;
  /** Absent for a new session; else the session is gone on with, or refused with `SESSION_NOT_FOUND`. */
  readonly earlier?: EarlierSession<Memory>;
  readonly output: SessionOutput;
  /** Aborts when nobody wants the session any more: `open` then rejects, and leaves nothing behind. */
  readonly signal: AbortSignal;
}

/** An open session with its agent, over all of its turns. Its methods reject with ProviderError. */
export interface AgentSession<Memory = unknown> {
  /** False from the moment on in which it is being closed, or its process is gone. */
  readonly isAlive: boolean;
  /** The agent's own id for the session, where it is not ours. */
  readonly agentSessionId?: string;
  /** What opening the session again needs besides. It outlives the session. */
  readonly memory?: Memory;
  /** What the agent told of earlier turns as it took the session up, where it did. */
  readonly told?: Promise<StoredTurn[]>;

  /**
   * Hands over a user message and resolves when its turn has begun: `response_start` and the message itself are out.
   * `PROCESS_CRASH` when the process is or goes dead, `TURN_IN_PROGRESS`.
   */
  send(message: string, turnId: string): Promise<void>;
  /** Asks the running turn to stop; it ends as cancelled. There may be none. `INTERRUPT_FAILED`. */
  cancel(): Promise<void>;
  /** Ends the agent and all it has started, a running turn as cancelled first. Doing so twice is no error. */
  close(): Promise<void>;

  /** `APPROVAL_NOT_FOUND` once the request is over, `INVALID_OPTION`. */
  answerApproval?(approvalId: string, answer: ApprovalAnswer): Promise<void>;
  /** `INVALID_OPTION` for an unknown id or value. */
  setConfigOption?(id: string, value: string): Promise<void>;
}

/** What an agent may be able to do beside its sessions. The provider that is made of its driver can do the same. */
export interface AgentCapabilities {
  /** Whether opening a session ahead of a message saves its sender time; the runtime then does so while it is written. */
  readonly prewarms?: boolean;
  /**
   * Whether the ids of stored turns are numbers, which say nothing of which of our turns they are: that follows from what
   * was said. Such an agent can tell what is stored only while it runs.
   */
  readonly numbersStoredTurns?: boolean;
  /** Starts the agent as far as its greeting, and ends it. Rejects with why there was none within `limitMs`. */
  introduce?(limitMs: number): Promise<AgentIntroduction>;
  /**
   * Sessions in the agent's own store, newest first; of one folder, or all. `known` are folders of projects, for agents
   * that list nothing unless they are asked for a folder.
   */
  listStoredSessions?(projectDir?: string, known?: readonly string[]): Promise<StoredSession[]>;
  /**
   * The same from an agent that runs anyway; undefined if none does. An agent that has it starts a program for
   * `listStoredSessions`, which is then called only when a person asks for it.
   */
  peekStoredSessions?(known?: readonly string[]): Promise<StoredSession[] | undefined>;
  /**
   * Changes whenever others than Liminal add to what the agent has stored of a session, by the agent's id for it. It is
   * cheap to ask for and starts no process. Nothing if there is none stored, or if nobody can tell just now.
   */
  storedMark?(agentSessionId: string, projectDir: string): Promise<string | undefined>;
  /** The conversation as the agent stored it, oldest turn first. `SESSION_NOT_FOUND`. */
  readStoredHistory?(agentSessionId: string, projectDir: string): Promise<StoredTurn[]>;
}

/** One kind of agent. Every driver passes `testing/provider-suite.ts`. */
export interface AgentDriver<Memory = unknown> extends AgentCapabilities {
  readonly cliType: string;
  /** What people call it. */
  readonly name: string;
  /** Bounds how many sessions are opened at once; two without it. Whatever else starts programs shares it. */
  readonly starts?: StartLimit;

  /** Opens a session, new or earlier. `SESSION_CREATE_FAILED`, `SESSION_NOT_FOUND`. */
  open(opening: SessionOpening<Memory>): Promise<AgentSession<Memory>>;
  /** Whether the agent can run here, and why not. Starts no session. */
  describe(): Promise<AgentInfo>;
  /** The folder of a session in the agent's own store, for one that is opened by its id alone. */
  findProjectDir?(agentSessionId: string): Promise<string | undefined>;
  /** Ends what the driver holds beside its sessions, which are closed at the same time. */
  close?(): Promise<void>;
}
