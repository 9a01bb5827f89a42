/** The contract between Liminal and one kind of agent (seed 000, Provider Interface). */
import type {
  AgentCommand,
  AgentInfo,
  ApprovalAnswer,
  ConfigOption,
  EventDraft,
  SessionNotice,
  TurnEvent,
  UpsertObject,
} from '@liminal/protocol';
import type { AgentCapabilities } from './driver.ts';

export interface CreateSessionOptions {
  /** Absolute path of an existing folder. */
  projectDir: string;
  /** The id to give the session; a UUID. Without it the provider makes one. */
  sessionId?: string;
  /** Config options by id, as `setConfigOption` would take them. */
  config?: Record<string, string>;
}

export interface LoadSessionOptions {
  /** Where the session lives; without it the provider looks for the session itself. */
  projectDir?: string;
  /** The agent's own id for the session, where it is not ours. */
  agentSessionId?: string;
  config?: Record<string, string>;
  /** What `storedMark` was when all that the agent has stored was known: then it need not tell that again. */
  storedMark?: string;
  /**
   * Whether something was said in it before. A provider that can begins a session anew that its agent has lost, and says
   * in its next turn that the agent does not remember; else that is `SESSION_NOT_FOUND`.
   */
  hasHistory?: () => Promise<boolean>;
}

export interface ProviderSession {
  sessionId: string;
  cliType: string;
  /** What the agent told of earlier turns as it took the session up, where it did. */
  told?: Promise<StoredTurn[]>;
}

export interface SendMessageResult {
  /** The canonical id of the turn: every event of the turn carries it. */
  turnId: string;
}

/** What an agent tells about a session outside its turns; a field that is absent has not changed. */
export interface SessionUpdate {
  title?: string;
  agentSessionId?: string;
  configOptions?: ConfigOption[];
  commands?: AgentCommand[];
  /** All that people should know now; none any more where it is empty. */
  notices?: SessionNotice[];
  /** What the agent waits for while its turn is silent; '' for nothing any more. A turn's end ends it, too. */
  activity?: string;
}

/** The agent's process is gone; `code` and `message` say why, unless it was asked to go. */
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

/** An earlier turn from the agent's own store, as the events it would have given live, terminal event included. */
export interface StoredTurn {
  turnId: string;
  events: EventDraft[];
  /** The turn that it goes on from, where that is known; none for a conversation's first. */
  after?: string;
  /** The agent, taken up again, goes on from another turn's end and does not know this one: the conversation forked. */
  isLeft?: boolean;
}

/** What an agent answers when it is started, and what of its configuration does not fit that. */
export interface AgentIntroduction {
  /** As it calls itself. */
  name?: string;
  version?: string;
  /** What it speaks, with the version. */
  protocol: string;
  /** What it can do besides answering, in words. */
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
   * Hands over a user message and resolves when the message is bound to its turn (the turn's `response_start` has
   * been emitted), before the turn completes. The turn takes `options.turnId` where given. Its first item is the
   * user's message, whole: nobody else puts it into the log.
   * `SESSION_NOT_FOUND`, `PROCESS_CRASH` when the process is or goes dead, `TURN_IN_PROGRESS`.
   */
  sendMessage(
    sessionId: string,
    message: string,
    options?: { turnId?: string },
  ): Promise<SendMessageResult>;
  /** Asks the running turn to stop; it ends as cancelled. Nothing to stop is no error. `INTERRUPT_FAILED`. */
  cancelTurn(sessionId: string): Promise<void>;
  /** Ends the agent and all it has started. A running turn ends as cancelled first. Ending a session twice is no error. */
  killSession(sessionId: string): Promise<void>;
  isAlive(sessionId: string): boolean;

  /**
   * Listeners may be added before the session exists, so that nothing is missed, and stay over kill and load. Those
   * of upserts and turns hear a turn from its beginning or not at all.
   */
  onEvent(sessionId: string, callback: (event: EventDraft) => void): Unsubscribe;
  onUpsert(sessionId: string, callback: (upsert: UpsertObject) => void): Unsubscribe;
  onTurn(sessionId: string, callback: (event: TurnEvent) => void): Unsubscribe;
  onUpdate(sessionId: string, callback: (update: SessionUpdate) => void): Unsubscribe;
  onExit(sessionId: string, callback: (exit: SessionExit) => void): Unsubscribe;

  /** Whether the agent can run here, and why not. Starts no session. */
  describe(): Promise<AgentInfo>;
  /** Ends all its sessions and whatever else it holds. */
  close(): Promise<void>;

  /** Optional capabilities, beside those of `AgentCapabilities`. */
  /**
   * Answers a permission request; `content` fills in its form, where it has one, and `note` is for an option that takes
   * one. `APPROVAL_NOT_FOUND` once it is over, `INVALID_OPTION`.
   */
  answerApproval?(sessionId: string, approvalId: string, answer: ApprovalAnswer): Promise<void>;
  /** `INVALID_OPTION` for an unknown id or value. */
  setConfigOption?(sessionId: string, id: string, value: string): Promise<void>;
}
