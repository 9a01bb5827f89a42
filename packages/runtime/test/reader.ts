import { appendText, type ServerMessage, type UpsertObject } from '@liminal/protocol';
import type { Outgoing, Runtime, SubscribeOptions } from '../src/index.ts';

/** A reader's cursor and its state at that cursor, with which it may return. */
export interface ReaderState {
  cursor: string | undefined;
  items: ReadonlyMap<string, UpsertObject>;
}

/**
 * A reader that keeps its messages, and the state that a client would derive from them. A message that must never be
 * sent is recorded as a fault: after that, waiting fails.
 */
export class Reader {
  readonly messages: ServerMessage[] = [];
  readonly items = new Map<string, UpsertObject>();
  cursor: string | undefined;
  /** The value that `send` returns: false means that the transport is full. */
  ready = true;
  fault: Error | undefined;
  readonly #subscription;
  #full = false;
  #waiting: (() => void)[] = [];

  constructor(
    runtime: Runtime,
    sessionId: string,
    { items = [], ...options }: SubscribeOptions & { items?: ReaderState['items'] | [] } = {},
  ) {
    for (const [itemId, item] of items) this.items.set(itemId, item);
    this.cursor = options.cursor;
    this.#subscription = runtime.subscribe(sessionId, options, {
      send: (outgoing) => this.#take(outgoing),
    });
  }

  get place(): ReaderState {
    return { cursor: this.cursor, items: new Map(this.items) };
  }

  drained(): void {
    this.ready = true;
    this.#full = false;
    this.#subscription.drained();
  }

  close(): void {
    this.#subscription.close();
  }

  /** Resolves when the condition is true: now, or after a message. */
  async until(condition: (reader: Reader) => boolean): Promise<this> {
    while (!condition(this)) {
      if (this.fault) throw this.fault;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this;
  }

  async untilType(type: ServerMessage['type'], count = 1): Promise<this> {
    return this.until((reader) => reader.ofType(type).length >= count);
  }

  async untilTurn(type: 'turn_started' | 'turn_complete' | 'turn_error', count = 1): Promise<this> {
    return this.until(
      (reader) =>
        reader.ofType('session:turn').filter((m) => m.payload.type === type).length >= count,
    );
  }

  ofType<T extends ServerMessage['type']>(type: T): Extract<ServerMessage, { type: T }>[] {
    return this.messages.filter((m): m is Extract<ServerMessage, { type: T }> => m.type === type);
  }

  /** Final contents by item, for comparing readers. */
  state(): unknown[] {
    return [...this.items.values()].map((item) => ({
      ...item,
      emittedAt: '',
      sourceTimestamp: '',
    }));
  }

  #take(outgoing: Outgoing): boolean {
    const message = JSON.parse(outgoing.json()) as ServerMessage;
    this.messages.push(message);
    try {
      if (this.#full) throw new Error(`${message.type} for a reader whose transport is full`);
      this.#apply(message);
    } catch (error) {
      this.fault ??= error as Error;
    }
    if ('cursor' in message) this.cursor = message.cursor;
    for (const wake of this.#waiting.splice(0)) wake();
    this.#full = !this.ready;
    return this.ready;
  }

  #apply(message: ServerMessage): void {
    if (message.type === 'session:upsert') this.#replace(message.payload);
    if (message.type === 'session:discard') this.items.delete(message.itemId);
    if (message.type === 'session:append') this.#append(message);
    if (message.type === 'session:history') this.#restart(message);
  }

  /** An upsert ends only once (invariant 4). */
  #replace(upsert: UpsertObject): void {
    const { itemId, status } = upsert;
    const before = this.items.get(itemId)?.status;
    if (before === 'complete' || before === 'error') {
      throw new Error(`${itemId}: ${status} after ${before}`);
    }
    this.items.set(itemId, upsert);
  }

  #append({ itemId, at, text }: { itemId: string; at: number; text: string }): void {
    const item = this.items.get(itemId);
    const grown = item && appendText(item, { at, text });
    if (!grown)
      throw new Error(`append to ${itemId} at ${at}, but the item's text has another length`);
    this.items.set(itemId, grown);
  }

  #restart(history: Extract<ServerMessage, { type: 'session:history' }>): void {
    const given = new Set(history.turns.map((turn) => turn.turnId));
    for (const [itemId, item] of this.items) {
      if (history.resumed === 'snapshot' || given.has(item.turnId)) this.items.delete(itemId);
    }
    for (const entry of history.entries) this.items.set(entry.itemId, entry);
  }
}
