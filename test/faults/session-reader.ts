import { applyMessage, type SessionView, type TurnView } from '@liminal/client';
import type { ServerMessage, UpsertObject } from '@liminal/protocol';
import type WebSocket from 'ws';
import type { Connection } from '../../bench/parts/connection.ts';

/** Watches a session over a WebSocket, and keeps the state that results from the messages so far. */
export class SessionReader {
  readonly messages: ServerMessage[] = [];
  #view: SessionView;
  /** Resolves when the connection has ended and all messages on it were read. */
  readonly closed = Promise.withResolvers<void>();
  #changed = Promise.withResolvers<void>();
  #socket!: WebSocket;

  private constructor(sessionId: string) {
    const nothing = { turns: [], pending: [], cursor: '', hasMore: false, needsResync: false };
    this.#view = { ...nothing, sessionId, phase: 'loading' };
  }

  /** Resolves when the reader has received the session's history. */
  static async open(connection: Connection, sessionId: string): Promise<SessionReader> {
    const reader = new SessionReader(sessionId);
    reader.#socket = await connection.follow(sessionId, (message) => reader.#take(message));
    // If the server is killed, the connection breaks.
    reader.#socket.on('error', () => undefined);
    reader.#socket.on('close', () => {
      reader.closed.resolve();
      reader.#wake();
    });
    return reader;
  }

  get turns(): readonly TurnView[] {
    return this.#view.turns;
  }

  turn(turnId: string): TurnView | undefined {
    return this.turns.find((turn) => turn.turnId === turnId);
  }

  /** Returns the agent's whole text in a turn. */
  agentText(turnId: string): string {
    const items = this.turn(turnId)?.items ?? [];
    return items.map(textOf).join('');
  }

  /**
   * Waits until `find` returns a value, and resolves with this value. Rejects if the connection breaks first, or if an
   * append does not match the text so far.
   */
  async until<T>(find: (reader: this) => T | undefined | false): Promise<T> {
    for (;;) {
      const found = find(this);
      if (this.#view.needsResync) throw new Error('An append did not fit the text so far.');
      if (found !== undefined && found !== false) return found;
      if (this.#socket.readyState === this.#socket.CLOSED) throw new Error('The connection broke.');
      await this.#changed.promise;
    }
  }

  /** Waits for the end of a turn. */
  async ended(turnId: string): Promise<TurnView> {
    return this.until(() => {
      const turn = this.turn(turnId);
      return turn?.status === 'in_progress' ? undefined : turn;
    });
  }

  /** Waits for an open permission request. Rejects if the turn ends without a permission request. */
  async approval(turnId: string): Promise<Extract<UpsertObject, { type: 'approval' }>> {
    return this.until(() => {
      const { items = [], status } = this.turn(turnId) ?? {};
      const waiting = items.find((item) => item.type === 'approval' && item.status === 'create');
      if (waiting?.type === 'approval') return waiting;
      if (status === undefined || status === 'in_progress') return undefined;
      throw new Error(`The turn ended before it asked: ${JSON.stringify(items)}`);
    });
  }

  /** Returns the names of all ends that a turn got. There must be exactly one (invariant 2). */
  ends(turnId: string): string[] {
    return this.messages.flatMap((message) =>
      message.type === 'session:turn' &&
      message.payload.turnId === turnId &&
      message.payload.type !== 'turn_started'
        ? [message.payload.type]
        : [],
    );
  }

  close(): void {
    this.#socket.terminate();
  }

  #take(message: ServerMessage): void {
    this.messages.push(message);
    this.#view = applyMessage(this.#view, message, Date.now());
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** Returns the agent's text in an item. */
export function textOf(item: UpsertObject): string {
  return item.type === 'message' && item.origin === 'agent' ? item.content : '';
}
