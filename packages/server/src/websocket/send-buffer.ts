import type { WebSocket } from '@fastify/websocket';

/** A generous estimate of a waiting message's overhead, in bytes. */
const messageOverhead = 2_000;

/**
 * The unsent messages of one socket: reports when there are too many, and when they were sent. Until then nothing is
 * read from the socket, so that a client that does not read answers cannot ask for more.
 */
export class SendBuffer {
  readonly #socket: WebSocket;
  readonly #bound: number;
  readonly #onDrained: () => void;
  #isFull = false;
  /** The number of unsent messages. */
  #waiting = 0;

  /** @param bound - In bytes. */
  constructor(socket: WebSocket, bound: number, onDrained: () => void) {
    this.#socket = socket;
    this.#bound = bound;
    this.#onDrained = onDrained;
  }

  /** While true, send only answers. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /**
   * Always accepts a message (JSON in UTF-8); returns false when the waiting bytes have reached the bound, until
   * `onDrained`. Many sockets share the same bytes.
   */
  send(message: Buffer): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return true;
    this.#waiting += 1;
    this.#socket.send(message, { binary: false }, this.#onSent);
    const size = this.#socket.bufferedAmount + this.#waiting * messageOverhead;
    if (!this.#isFull && size >= this.#bound) this.#pause();
    return !this.#isFull;
  }

  /** Answers a ping of the WebSocket protocol. */
  pong(data: Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#waiting += 1;
    this.#socket.pong(data, false, this.#onSent);
    if (!this.#isFull && this.#size >= this.#bound) this.#pause();
  }

  #pause(): void {
    this.#isFull = true;
    this.#socket.pause();
  }

  /** The waiting bytes, including the socket's overhead. */
  get #size(): number {
    return this.#socket.bufferedAmount + this.#waiting * messageOverhead;
  }

  readonly #onSent = (): void => {
    this.#waiting -= 1;
    // A closed socket has no waiting bytes, and accepts no more.
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (!this.#isFull || this.#size > this.#bound / 4) return;
    this.#isFull = false;
    this.#socket.resume();
    this.#onDrained();
  };
}
