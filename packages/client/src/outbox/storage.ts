import type { ContentBlock } from '@liminal/protocol';

/** A message that a person has sent and that the server is not known to have. */
export interface UnsentMessage {
  /**
   * The id of the message's turn, a UUID. It is the same on each attempt, so that the server accepts the message once.
   */
  readonly turnId: string;
  readonly sessionId: string;
  readonly message: string;
  /** The message's attachments; files that the server may not have yet have local names. */
  readonly blocks?: readonly ContentBlock[] | undefined;
  /** Whether the message is for the running turn; `turnId` is then the message's id. */
  readonly isSteer?: true | undefined;
  /** ms since the epoch; messages are sent in this order. */
  readonly sentAt: number;
  /** Why the server refused the message, which then waits for a person's decision. */
  readonly problem?: { code: string; message: string } | undefined;
}

/** Stores unsent messages; if the medium allows it, they outlive the page. */
export interface OutboxStorage {
  /** All stored messages, in no particular order. */
  load(): Promise<UnsentMessage[]>;
  /** Adds or replaces a message. */
  put(message: UnsentMessage): Promise<void>;
  remove(turnId: string): Promise<void>;
  /** Calls `listener` when another page has changed the stored messages. */
  onChange(listener: () => void): void;
  /** Runs `work` for a session while no other page does. */
  withLock(sessionId: string, work: () => Promise<void>): Promise<void>;
}

/** For programs: unsent messages are lost when the program ends. */
export function memoryOutbox(): OutboxStorage {
  const kept = new Map<string, UnsentMessage>();
  return {
    load: async () => [...kept.values()],
    put: async (message) => void kept.set(message.turnId, message),
    remove: async (turnId) => void kept.delete(turnId),
    onChange: () => undefined,
    withLock: (_, work) => work(),
  };
}
