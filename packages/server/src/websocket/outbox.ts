import type { WebSocket } from '@fastify/websocket';

/** What a message that waits takes beside its bytes, generously. */
const messageItself = 2_000;

/** What one socket still has to send: says when that is too much, and when it has gone out. */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #bound: number;
  readonly #onDrained: () => void;
  #full = false;
  /** Messages that have not gone out. */
  #waiting = 0;

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

  /**
   * Takes a message (JSON in UTF-8) in any case; false when what waits has reached the bound, until `onDrained`. Many
   * sockets hold the same bytes.
   */
  send(message: Buffer): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return true;
    this.#waiting += 1;
    this.#socket.send(message, { binary: false }, this.#onSent);
    this.#full ||= this.#size >= this.#bound;
    return !this.#full;
  }

  /** Bytes that wait, with what a socket needs to hold them. */
  get #size(): number {
    return this.#socket.bufferedAmount + this.#waiting * messageItself;
  }

  readonly #onSent = (): void => {
    this.#waiting -= 1;
    // Of a socket that was ended nothing waits any more, and nobody wants more.
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (!this.#full || this.#size > this.#bound / 4) return;
    this.#full = false;
    this.#onDrained();
  };
}
