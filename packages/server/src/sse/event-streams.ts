import { errors } from '../errors.ts';
import type { Connections } from '../connections.ts';
import type { Limits } from '../limits.ts';
import { EventStream } from './event-stream.ts';

interface Callbacks {
  /** Called when all unsent data of a full stream has been sent. */
  onDrained: () => void;
  /** Called when the client has disconnected. */
  onClosed: () => void;
}

/** All open streams. This class limits their number, and ends them when the server closes. */
export class EventStreams {
  readonly #streams = new Set<EventStream>();
  readonly #connections: Connections;
  readonly #limits: Limits;

  constructor(connections: Connections, limits: Limits) {
    this.#connections = connections;
    this.#limits = limits;
  }

  /** Throws `TOO_MANY_CONNECTIONS`. */
  open({ onDrained, onClosed }: Callbacks): EventStream {
    if (this.#connections.isFull) {
      throw errors.TOO_MANY_CONNECTIONS.streams();
    }
    const leave = this.#connections.enter('sse');
    const stream = new EventStream({
      bufferBytes: this.#limits.bufferBytes,
      heartbeatMs: this.#limits.heartbeatMs,
      onDrained,
      onClosed: () => {
        this.#streams.delete(stream);
        leave();
        onClosed();
      },
    });
    this.#streams.add(stream);
    return stream;
  }

  endAll(): void {
    for (const stream of this.#streams) stream.end();
  }
}
