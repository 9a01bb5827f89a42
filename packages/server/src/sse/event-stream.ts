import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

export interface ServerSentEvent {
  event: string;
  /** The data of the event, as one line of JSON. */
  data: string;
  /** The id of the event. A client sends this id as `Last-Event-ID` when it reconnects. */
  id?: string | undefined;
}

interface EventStreamOptions {
  /** If the number of unsent bytes reaches this value, `send` returns false. */
  bufferBytes: number;
  heartbeatMs: number;
  /** Called when all unsent data of a full stream has been sent. */
  onDrained: () => void;
  /** Called when the client has disconnected, or when the server has ended the stream. */
  onClosed: () => void;
}

/**
 * A stream of server-sent events to one client. The stream sends comments at intervals, so that proxies do not close
 * the connection.
 */
export class EventStream {
  readonly #readable: Readable;
  readonly #onDrained: () => void;
  #isFull = false;
  #hasEnded = false;

  constructor({ bufferBytes, heartbeatMs, onDrained, onClosed }: EventStreamOptions) {
    this.#onDrained = onDrained;
    this.#readable = new Readable({ highWaterMark: bufferBytes, read: () => this.#onRead() });
    const heartbeat = setInterval(() => this.#push(': heartbeat\n\n'), heartbeatMs);
    this.#readable.once('close', () => {
      this.#hasEnded = true;
      clearInterval(heartbeat);
      onClosed();
    });
    // Send a comment first, so that the headers are sent before the first event.
    this.#push(': open\n\n');
  }

  /**
   * Always accepts an event. Returns false when the number of unsent bytes has reached the limit. Then the caller
   * should wait for `onDrained`.
   */
  send({ event, data, id }: ServerSentEvent): boolean {
    return this.#push(`event: ${event}\n${id ? `id: ${id}\n` : ''}data: ${data}\n\n`);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#readable.push(null);
  }

  /** Makes the stream. The stream becomes the response to a request. */
  answer(reply: FastifyReply): FastifyReply {
    return reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      .send(this.#readable);
  }

  #push(text: string): boolean {
    if (this.#hasEnded) return true;
    const hasRoom = this.#readable.push(text);
    this.#isFull ||= !hasRoom;
    return hasRoom;
  }

  #onRead(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#onDrained();
  }
}
