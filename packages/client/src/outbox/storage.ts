import type { ContentBlock } from '@liminal/protocol';

/** A message that a person has sent and that the server is not known to have. */
export interface UnsentMessage {
  /** The id of its turn, a UUID. The same on each attempt, so that the server takes it once. */
  readonly turnId: string;
  readonly sessionId: string;
  readonly message: string;
  /** What is attached to it; files that the server may not have yet have local names. */
  readonly blocks?: readonly ContentBlock[] | undefined;
  /** It is for the turn that runs; `turnId` is then its own id. */
  readonly isSteer?: true | undefined;
  /** ms since the epoch; messages go in this order. */
  readonly sentAt: number;
  /** Why the server refused it; then it waits for a person. */
  readonly problem?: { code: string; message: string } | undefined;
}

/** Where unsent messages are kept; if the medium allows it, they outlive the page. */
export interface OutboxStorage {
  /** All kept messages, in no order. */
  load(): Promise<UnsentMessage[]>;
  /** Adds or replaces a message. */
  put(message: UnsentMessage): Promise<void>;
  remove(turnId: string): Promise<void>;
  /** Calls back when another page has changed what is kept. */
  onChange(listener: () => void): void;
  /** Runs `work` for a session while no other page does. */
  exclusively(sessionId: string, work: () => Promise<void>): Promise<void>;
}

/** For programs: unsent messages are lost when the program ends. */
export function memoryOutbox(): OutboxStorage {
  const kept = new Map<string, UnsentMessage>();
  return {
    load: async () => [...kept.values()],
    put: async (message) => void kept.set(message.turnId, message),
    remove: async (turnId) => void kept.delete(turnId),
    onChange: () => undefined,
    exclusively: (_, work) => work(),
  };
}
