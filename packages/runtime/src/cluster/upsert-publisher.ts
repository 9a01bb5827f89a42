/** Publishes the rendered items for subscribers in any language (seed 003, Stream B). */
import { createHash } from 'node:crypto';
import type {
  FoldOutput,
  ResponseState,
  StreamEvent,
  UpsertFoldConfig,
  UpsertFoldState,
} from '@liminal/protocol';
import {
  flushAll,
  flushIdle,
  foldUpsert,
  nextFlushAt,
  onEpoch,
  resumeUpsertFold,
  startUpsertFold,
  withRetries,
} from '@liminal/protocol';
import type { UpsertMessage } from '@liminal/storage';
import type { UpsertSettings } from '../settings.ts';

interface UpsertPublisherOptions {
  publish: (message: UpsertMessage) => Promise<void>;
  settings: UpsertSettings;
  /** The current time in ms since the epoch. */
  now: () => number;
  /** Called when buffered text could not be published. */
  onTrouble: (error: unknown) => void;
  /**
   * The state of the run up to the last event that another projector has published. If undefined, the run is published
   * from its start.
   */
  from?: ResponseState;
}

/** A message, and its subject: the item or the turn whose latest state it contains. */
interface Publication {
  subject: string;
  message: UpsertMessage;
  endsTurn: boolean;
}

/** The subject of a turn's start. */
const turnStartSubject = 'turn:start';
/** The subject of a turn's end. */
const turnEndSubject = 'turn:end';

/**
 * Publishes one run's upserts and turn events, in order. The same events always give the same `eventId`s, so that a
 * reader can recognise messages that a second projector publishes again.
 *
 * Once a message has failed all retries, later messages are tried once each, until one succeeds, because retries delay
 * the run. Then the latest states of the failed messages are published. The turn's end has all its retries again.
 */
export class UpsertPublisher {
  readonly #options: UpsertPublisherOptions;
  readonly #closing = new AbortController();
  /** The latest failed message by subject. */
  readonly #missed = new Map<string, UpsertMessage>();
  #state: UpsertFoldState;
  /** The last event published, and the number of its messages. */
  #last = { runId: '', seq: -1, messages: 0 };
  #publishing: Promise<void> = Promise.resolve();
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UpsertPublisherOptions) {
    const config = foldConfig(options.settings);
    this.#options = options;
    this.#state = options.from ? resumeUpsertFold(options.from, config) : startUpsertFold(config);
  }

  /** Resolves when the event's messages are published; rejects with the first failure after all retries. */
  async process(event: StreamEvent): Promise<void> {
    const { state, outputs } = foldUpsert(this.#dated(), event, performance.now());
    this.#state = state;
    this.#last = { runId: event.runId, seq: event.seq, messages: 0 };
    await this.#publishAll(outputs);
    this.#flushLater();
  }

  /** Publishes buffered text and failed messages, each tried once more, and stops. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#closing.abort();
    const { state, outputs } = flushAll(this.#dated(), performance.now());
    this.#state = state;
    await this.#publishAll(outputs).catch(this.#options.onTrouble);
    await this.#publishMissed(0);
  }

  #dated(): UpsertFoldState {
    return onEpoch(this.#state, this.#options.now() - performance.now());
  }

  #flushLater(): void {
    clearTimeout(this.#timer);
    const at = nextFlushAt(this.#state);
    if (at === undefined || this.#closing.signal.aborted) return;
    const wait = Math.max(0, at - performance.now());
    this.#timer = setTimeout(() => this.#flush(), wait);
    this.#timer.unref();
  }

  #flush(): void {
    const { state, outputs } = flushIdle(this.#dated(), performance.now());
    this.#state = state;
    this.#publishAll(outputs).catch(this.#options.onTrouble);
    this.#flushLater();
  }

  /**
   * Publishes the messages one after another, even if a flush begins in the meantime. A failed message does not delay
   * the other messages.
   */
  async #publishAll(outputs: readonly FoldOutput[]): Promise<void> {
    const publications = outputs.flatMap((output) => this.#toPublication(output) ?? []);
    const publishing = this.#publishing
      .catch(() => undefined)
      .then(async () => {
        const failures: unknown[] = [];
        for (const publication of publications) {
          await this.#publish(publication).catch((error: unknown) => failures.push(error));
        }
        if (failures.length > 0) throw failures[0];
      });
    this.#publishing = publishing;
    await publishing;
  }

  async #publish({ subject, message, endsTurn }: Publication): Promise<void> {
    const { retryAttempts } = this.#options.settings;
    // Failed messages come first: nothing is published after a turn's end.
    if (endsTurn) await this.#publishMissed(retryAttempts);
    try {
      await this.#try(message, this.#isFailing && !endsTurn ? 0 : retryAttempts);
    } catch (error) {
      this.#isFailing = true;
      this.#missed.set(subject, message);
      throw error;
    }
    this.#missed.delete(subject);
    if (!this.#isFailing) return;
    this.#isFailing = false;
    await this.#publishMissed(0);
  }

  /** Tries the failed messages again. A message that fails again is dropped, so that it cannot block others. */
  async #publishMissed(retries: number): Promise<void> {
    const missed = [...this.#missed.values()];
    this.#missed.clear();
    let left = retries;
    for (const message of missed) {
      await this.#try(message, left).catch(() => {
        left = 0;
      });
    }
  }

  async #try(message: UpsertMessage, retries: number): Promise<void> {
    const { publish, settings } = this.#options;
    await withRetries(
      async () => publish(message),
      async (error, attempts) => {
        if (attempts > retries || this.#closing.signal.aborted) throw error;
        await this.#wait(Math.min(settings.retryBaseMs * 2 ** (attempts - 1), settings.retryMaxMs));
      },
    );
  }

  /** Waits `ms`, or until the publisher closes. */
  async #wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { signal } = this.#closing;
    const timer = setTimeout(resolve, ms);
    const end = (): void => resolve();
    signal.addEventListener('abort', end);
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }

  #toPublication(output: FoldOutput): Publication | undefined {
    const envelope = toEnvelope(output);
    if (!envelope) return undefined;
    const { runId, seq, messages } = this.#last;
    this.#last = { runId, seq, messages: messages + 1 };
    const { payloadType, payload, subject } = envelope;
    const message = {
      eventId: uuidOf(`${runId}:${seq}:${messages}`),
      timestamp: this.#options.now(),
      turnId: payload.turnId,
      payloadType,
      payload: JSON.stringify(payload),
    };
    return { subject, message, endsTurn: subject === turnEndSubject };
  }
}

/**
 * Returns the part of the envelope that depends on the fold's output. Seed 003 has no payload type for a withdrawn
 * item.
 */
function toEnvelope(output: FoldOutput) {
  switch (output.kind) {
    case 'upsert': {
      const payload = output.upsert;
      return { payloadType: 'item_upsert', payload, subject: `item:${payload.itemId}` } as const;
    }
    case 'discard': {
      const { turnId, itemId } = output;
      const payload = { type: 'item_discard', turnId, itemId };
      return { payloadType: 'item_discard', payload, subject: `item:${itemId}` } as const;
    }
    case 'turn': {
      const payload = output.event;
      const subject = payload.type === 'turn_started' ? turnStartSubject : turnEndSubject;
      return { payloadType: 'turn_event', payload, subject } as const;
    }
    case 'append':
      return undefined;
  }
}

function foldConfig(settings: UpsertSettings): Partial<UpsertFoldConfig> {
  const { batchGradientTokens, batchTimeoutMs, tokenCounter, firstEmission } = settings;
  const paced = { batchGradientTokens, batchTimeoutMs, firstEmission };
  // Counting words needs no counter: the fold counts words by default.
  return tokenCounter === 'words' ? paced : { ...paced, tokenCounter: quarterOfLength };
}

function quarterOfLength(text: string): number {
  return text.length / 4;
}

/** Returns the UUID of a name (RFC 9562, version 8). */
function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  return [...parts, `${variant}${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}
