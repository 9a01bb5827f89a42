import type { ContentBlock } from '@liminal/protocol';

/** A message that a person has sent, and that the server may not have received. */
export interface UnsentMessage {
  /**
   * The id of the message's turn, a UUID. The id is the same on each attempt, so that the server accepts the message
   * only once.
   */
  readonly turnId: string;
  readonly sessionId: string;
  readonly message: string;
  /** The message's attachments. A file that the server may not have received yet has a local name. */
  readonly blocks?: readonly ContentBlock[] | undefined;
  /** Whether the message is for the running turn. `turnId` is then the id of the message itself. */
  readonly isSteer?: true | undefined;
  /** The time at which the message was written, in ms since the epoch. Messages are sent in the order of this time. */
  readonly sentAt: number;
  /** The reason why the server refused the message. The message now waits for a person's decision. */
  readonly problem?: { code: string; message: string } | undefined;
}

/** Stores unsent messages. If the medium allows it, they are kept after the page is closed. */
export interface OutboxStorage {
  /** Resolves with all stored messages, in no particular order. */
  load(): Promise<UnsentMessage[]>;
  /** Adds or replaces a message. */
  put(message: UnsentMessage): Promise<void>;
  remove(turnId: string): Promise<void>;
  /** Calls `listener` after another page has changed the stored messages. */
  onChange(listener: () => void): void;
  /** Runs `work` while no other page runs `work` for the same session. */
  withLock(sessionId: string, work: () => Promise<void>): Promise<void>;
}

/** Returns a storage in memory, for programs. Its unsent messages are lost when the program ends. */
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
