import type { WebSocket } from '@fastify/websocket';

/** The memory that an unsent message needs in addition to its bytes, in bytes. This is a high estimate. */
const messageOverhead = 2_000;

/**
 * The unsent messages of one socket. Reports when the buffer is full, and when it has room again. While the buffer is
 * full, nothing is read from the socket, so that a client that does not read answers cannot request more.
 */
export class SendBuffer {
  readonly #socket: WebSocket;
  readonly #bound: number;
  readonly #onDrained: () => void;
  #isFull = false;
  /** The number of unsent messages. */
  #waiting = 0;

  /** @param bound - The number of unsent bytes at which the buffer is full. */
  constructor(socket: WebSocket, bound: number, onDrained: () => void) {
    this.#socket = socket;
    this.#bound = bound;
    this.#onDrained = onDrained;
  }

  /** True if the buffer is full. Then the caller should send only answers. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /**
   * Always accepts a message (JSON in UTF-8). Returns false when the number of unsent bytes has reached the limit. Then
   * the caller should wait for `onDrained`. The same bytes can be sent to many sockets without a copy.
   */
  send(message: Buffer): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return true;
    this.#waiting += 1;
    this.#socket.send(message, { binary: false }, this.#onSent);
    if (!this.#isFull && this.#size >= this.#bound) this.#pause();
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

  /** Returns the number of unsent bytes, including the socket's overhead. */
  get #size(): number {
    return this.#socket.bufferedAmount + this.#waiting * messageOverhead;
  }

  readonly #onSent = (): void => {
    this.#waiting -= 1;
    // A closed socket has no unsent bytes, and accepts no more messages.
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (!this.#isFull || this.#size > this.#bound / 4) return;
    this.#isFull = false;
    this.#socket.resume();
    this.#onDrained();
  };
}
