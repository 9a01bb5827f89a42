/** A message that a person has sent and that the server is not known to have. */
export interface UnsentMessage {
  /** Names its turn, at each attempt the same: the server takes it once. A UUID. */
  readonly turnId: string;
  readonly sessionId: string;
  readonly message: string;
  /** ms since the epoch; messages go in this order. */
  readonly sentAt: number;
  /** Why the server refused it; it waits for a person then. */
  readonly problem?: { code: string; message: string } | undefined;
}

/** Where unsent messages are kept. What is kept outlives the page, where the medium can do that. */
export interface OutboxStorage {
  /** All that is kept, in no order. */
  load(): Promise<UnsentMessage[]>;
  /** Adds or replaces a message. */
  put(message: UnsentMessage): Promise<void>;
  remove(turnId: string): Promise<void>;
  /** Calls back when another page has changed what is kept. */
  onChange(listener: () => void): void;
  /** Does something for a session while no other page does. */
  exclusively(sessionId: string, work: () => Promise<void>): Promise<void>;
}

/** For programs: what is not sent ends with them. */
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
