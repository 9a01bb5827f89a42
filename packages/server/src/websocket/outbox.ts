import type { WebSocket } from '@fastify/websocket';

/** What one socket still has to send: says when that is too much, and when it has gone out. */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #bound: number;
  readonly #onDrained: () => void;
  #full = false;

  /** `bound` in bytes. */
  constructor(socket: WebSocket, bound: number, onDrained: () => void) {
    this.#socket = socket;
    this.#bound = bound;
    this.#onDrained = onDrained;
  }

  /** Until it is false again, nothing but answers should be sent. */
  get full(): boolean {
    return this.#full;
  }

  /** Takes a message in any case; false when what waits has reached the bound, until `onDrained`. */
  send(json: string): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return true;
    this.#socket.send(json, this.#onSent);
    this.#full ||= this.#socket.bufferedAmount >= this.#bound;
    return !this.#full;
  }

  readonly #onSent = (): void => {
    if (!this.#full || this.#socket.bufferedAmount > this.#bound / 4) return;
    this.#full = false;
    this.#onDrained();
  };
}
