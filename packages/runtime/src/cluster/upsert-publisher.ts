/** Publishes what readers render, for readers in any language: seed 003's Stream B. */
import { createHash } from 'node:crypto';
import type { FoldOutput, ResponseState, StreamEvent, UpsertFoldState } from '@liminal/protocol';
import {
  flushIdle,
  foldUpsert,
  nextFlushAt,
  resumeUpsertFold,
  startUpsertFold,
} from '@liminal/protocol';
import type { UpsertMessage } from '@liminal/storage';

/** How many times publishing a message is retried (seed 003). */
const RETRIES = 3;
/** How long to wait before the first retry, in ms; each further wait is twice as long. */
const RETRY_MS = 1_000;

interface UpsertPublisherOptions {
  publish: (message: UpsertMessage) => Promise<void>;
  /** ms since the epoch. */
  now: () => number;
  /** Text that was held back could not be published. */
  onTrouble: (error: unknown) => void;
  /** The run's state up to which another has published; from the start if not given. */
  from?: ResponseState;
}

/**
 * Publishes one run's upserts and turn events, in order. The same events always give the same `eventId`s: a reader can
 * tell a message that a second projector publishes again.
 */
export class UpsertPublisher {
  readonly #options: UpsertPublisherOptions;
  #state: UpsertFoldState;
  /** The last event published, and how many messages it has given. */
  #last = { runId: '', seq: -1, messages: 0 };
  #publishing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UpsertPublisherOptions) {
    this.#options = options;
    this.#state = options.from ? resumeUpsertFold(options.from) : startUpsertFold();
  }

  /** Resolves when what the event makes visible is published; rejects with the last failure after all retries. */
  async process(event: StreamEvent): Promise<void> {
    const { state, outputs } = foldUpsert(this.#state, event, this.#options.now());
    this.#state = state;
    this.#last = { runId: event.runId, seq: event.seq, messages: 0 };
    await this.#publishAll(outputs);
    this.#flushLater();
  }

  /** Stops publishing. */
  close(): void {
    clearTimeout(this.#timer);
  }

  #flushLater(): void {
    clearTimeout(this.#timer);
    const at = nextFlushAt(this.#state);
    if (at === undefined) return;
    const wait = Math.max(0, at - this.#options.now());
    this.#timer = setTimeout(() => this.#flush(), wait);
    this.#timer.unref();
  }

  #flush(): void {
    const { state, outputs } = flushIdle(this.#state, this.#options.now());
    this.#state = state;
    this.#publishAll(outputs).catch(this.#options.onTrouble);
    this.#flushLater();
  }

  /** One after the other, even if a flush comes in between. */
  async #publishAll(outputs: readonly FoldOutput[]): Promise<void> {
    const messages = outputs.flatMap((output) => this.#messageOf(output) ?? []);
    const publishing = this.#publishing
      .catch(() => undefined)
      .then(async () => {
        for (const message of messages) await this.#publish(message);
      });
    this.#publishing = publishing;
    await publishing;
  }

  async #publish(message: UpsertMessage): Promise<void> {
    const { publish } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await publish(message);
      } catch (error) {
        if (attempt >= RETRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS * 2 ** attempt));
      }
    }
  }

  /** The envelope has no word for a withdrawn item. */
  #messageOf(output: FoldOutput): UpsertMessage | undefined {
    if (output.kind !== 'upsert' && output.kind !== 'turn') return undefined;
    const { runId, seq, messages } = this.#last;
    this.#last = { runId, seq, messages: messages + 1 };
    const [payloadType, payload] =
      output.kind === 'upsert'
        ? (['item_upsert', output.upsert] as const)
        : (['turn_event', output.event] as const);
    return {
      eventId: uuidOf(`${runId}:${seq}:${messages}`),
      timestamp: this.#options.now(),
      turnId: payload.turnId,
      payloadType,
      payload: JSON.stringify(payload),
    };
  }
}

/** The UUID that belongs to a name (RFC 9562, version 8). */
function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  return [...parts, `${variant}${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}
