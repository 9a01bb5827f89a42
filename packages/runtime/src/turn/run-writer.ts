import { EventEmitter } from 'node:events';
import type {
  EventDraft,
  Response,
  ResponseState,
  RunEnvelope,
  StreamEvent,
} from '@liminal/protocol';
import {
  closeOpenItems,
  closingOf,
  emptyResponse,
  foldResponse,
  isTerminal,
  stampEvent,
  toResponse,
} from '@liminal/protocol';
import type { EventLog } from '@liminal/storage';
import { yieldToEventLoop, StorageError, storageErrors } from '@liminal/storage';
import { type DeltaDraft, type Gathering, gather, isDelta, joined } from './gathering.ts';
import type { BlobKeeper } from '../blobs/index.ts';
import type { DeltaPace } from './delta-pace.ts';
import { firstBatch } from './large.ts';
import type { Meter } from '../meter.ts';
import type { Supervisor } from './supervisor.ts';

const unwritable = {
  code: 'NOT_WRITABLE',
  message: 'An event of the agent cannot be serialised and was left out.',
};

export interface RunWriterOptions {
  log: EventLog;
  run: RunEnvelope;
  /** The provider in the `response_start` that the writer adds if the agent did not send a `response_start`. */
  providerId: string;
  /**
   * Whether this writer may begin the run. Called before the first event is appended. If the call rejects, it is
   * repeated.
   */
  mayBegin: () => Promise<boolean>;
  /** Decides when deltas are appended; the gathered deltas of one item become one event. */
  pace: DeltaPace;
  /** The most characters of events that may wait while the log rejects them. */
  maxUnlogged: number;
  /** Stores the bytes in the run's events; the log only refers to them. */
  blobs: Pick<BlobKeeper, 'take' | 'store' | 'waiting'>;
  supervisor: Supervisor;
  meter?: Pick<Meter, 'appended' | 'appendRefused'> | undefined;
}

/** The events that a writer emits. */
export interface RunWriterEvents {
  /** The log has just accepted these events, in order (invariant 6). */
  logged: [events: readonly StreamEvent[]];
  /**
   * The log has rejected events; the writer keeps the events and retries. Emitted at the first rejection, and then at
   * every `emitEvery`th rejection in a row.
   */
  refused: [error: unknown];
  /** Too many events wait, so the listener must end the run. The run's end then waits with the other events. */
  overflow: [];
}

/** The state of a run in its writer. */
export interface WrittenRun {
  runId: string;
  /** The run's state, including the events that the log has not accepted yet. */
  state: ResponseState;
  /** `seq` of the last event that the log has accepted; -1 before the first. */
  loggedSeq: number;
  /**
   * Whether the writer stopped because of an error of its own, and not because the log rejected the writer's events.
   */
  isBroken: boolean;
}

/** Events that the log never accepted. */
export interface UnloggedCounts {
  events: number;
  /** The size of these events as JSON. */
  characters: number;
}

/** Delay before the log is tried again after it rejected events, in ms. */
const retryMs = 500;
/** `refused` is emitted once per this many rejections. */
const emitEvery = 20;

/**
 * The only writer of a run: numbers the run's events (invariant 1), writes exactly one terminal event (invariant 2),
 * closes open items before the terminal event (invariant 3), and joins deltas before appending them, so that a flood
 * of deltas costs only a few appends a second.
 */
export class RunWriter extends EventEmitter<RunWriterEvents> {
  readonly #options: RunWriterOptions;
  /** Gathered deltas, by item. */
  readonly #pending = new Map<string, Gathering>();
  /** Numbered events that the log does not have yet. */
  #unlogged: StreamEvent[] = [];
  #state = emptyResponse();
  #nextSeq = 0;
  #loggedSeq = -1;
  #sealed = false;
  #abandoned = false;
  #isBroken = false;
  #appending = false;
  /** Whether the gathered deltas must be appended as soon as the running append ends. */
  #isDue = false;
  /** How many times the log has rejected events in a row. */
  #refusals = 0;
  /** The measured size of the first events of the outbox. */
  #measured: UnloggedCounts = { events: 0, characters: 0 };
  #lastDeltaAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  readonly #ended = Promise.withResolvers<Response | undefined>();

  constructor(options: RunWriterOptions) {
    super();
    this.#options = options;
  }

  /** Resolves with the folded run when the log has its terminal event; with undefined if this writer lost the run. */
  get ended(): Promise<Response | undefined> {
    return this.#ended.promise;
  }

  /** The run so far. */
  get written(): WrittenRun {
    return {
      runId: this.#options.run.runId,
      state: this.#state,
      loggedSeq: this.#loggedSeq,
      isBroken: this.#isBroken,
    };
  }

  /** Whether the terminal event was added; later drafts are ignored. */
  get sealed(): boolean {
    return this.#sealed;
  }

  /** Stops writing because the server closes; returns the size of the lost events. */
  abandon(): UnloggedCounts {
    this.#abandoned = true;
    this.#numberPending();
    this.#end(undefined);
    return this.#measure();
  }

  /** Stops writing; the run must then be ended from the events that the log has. */
  giveUp(): void {
    this.#abandoned = true;
    this.#isBroken = true;
    this.#end(undefined);
  }

  add(original: EventDraft): void {
    if (this.#sealed) return;
    const draft = this.#options.blobs.take(original);
    if (isDelta(draft)) this.#addDelta(draft);
    else this.#addNow(draft);
  }

  #addDelta(draft: DeltaDraft): void {
    const gathering = this.#pending.get(draft.payload.itemId);
    if (gathering) gather(gathering, draft);
    else this.#pending.set(draft.payload.itemId, { first: draft, more: undefined });
    if (this.#timer) return;
    const { pace, supervisor } = this.#options;
    const wait = pace.wait(this.#lastDeltaAt);
    if (wait <= 0) this.#release();
    else this.#timer = setTimeout(() => supervisor.run(() => this.#release()), wait);
  }

  #addNow(draft: EventDraft): void {
    this.#numberPending();
    // Check for the end first: the end seals the run even if a later step fails.
    const isEnd = isTerminal(draft.payload);
    if (this.#nextSeq === 0 && draft.payload.type !== 'response_start')
      this.#startUnannounced(draft);
    if (isEnd) {
      for (const payload of closeOpenItems(this.#state, closingOf(draft.payload))) {
        this.#number({ ...draft, payload });
      }
    }
    this.#number(draft);
    this.#sealed = isEnd;
    this.#startDraining();
  }

  #startUnannounced({ turnId, timestamp }: EventDraft): void {
    const { providerId } = this.#options;
    this.#number({
      turnId,
      timestamp,
      payload: { type: 'response_start', modelId: 'unknown', providerId },
    });
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastDeltaAt = performance.now();
    // While the log rejects events, deltas are joined until the next retry.
    if (this.#refusals > 0) return;
    if (this.#appending && this.#options.pace.gathers) this.#isDue = true;
    else this.#numberPending();
    this.#startDraining();
  }

  #numberPending(): void {
    for (const gathering of this.#pending.values()) this.#number(joined(gathering));
    this.#pending.clear();
  }

  #number(draft: EventDraft): void {
    const event = stampEvent(draft, this.#options.run, this.#nextSeq);
    this.#state = foldResponse(this.#state, event);
    this.#nextSeq += 1;
    this.#unlogged.push(event);
  }

  /**
   * Appends the waiting events. If appending fails unexpectedly, the run ends as lost, with the events that the log
   * has.
   */
  #startDraining(): void {
    this.#drain().catch((error: unknown) => {
      this.#options.supervisor.fault(error);
      this.giveUp();
    });
  }

  /** Appends until no events wait, including the events that arrive during an append. */
  async #drain(): Promise<void> {
    if (this.#appending) return;
    this.#appending = true;
    // Events of the same tick are one append: a turn must not be in the log without its user message.
    await Promise.resolve();
    while (this.#hasMore() && !this.#abandoned) {
      const { events, isLarge } = firstBatch(this.#unlogged);
      if (isLarge) await yieldToEventLoop();
      if (this.#abandoned) break;
      this.#unlogged = this.#unlogged.slice(events.length);
      try {
        if (events[0]?.seq === 0) await this.#assertMayBegin();
        // Store the bytes first, so that no subscriber gets a reference to missing bytes.
        if (this.#options.blobs.waiting > 0) await this.#options.blobs.store();
        const startedAt = performance.now();
        const appended = this.#options.log.append(this.#options.run.runId, events);
        // Measured before the `await`: waiting for another machine uses no time of this thread.
        this.#options.pace.spent(performance.now() - startedAt);
        await appended;
        this.#options.meter?.appended((performance.now() - startedAt) / 1_000);
      } catch (error) {
        if (isTakenOver(error)) {
          // Another writer has the run now, and only that writer's events are valid (invariant 1).
          this.emit('refused', error);
          return this.#end(undefined);
        }
        this.#unlogged = [...events.map(writable), ...this.#unlogged];
        this.#refused(error);
        await new Promise((resolve) => setTimeout(resolve, retryMs));
        continue;
      }
      this.#loggedSeq = events.at(-1)?.seq ?? this.#loggedSeq;
      if (isLarge) await yieldToEventLoop();
      this.#accepted(events);
      if (isLarge) await yieldToEventLoop();
      if (events.some(isTerminal)) this.#end(toResponse(this.#state));
    }
    this.#appending = false;
  }

  /**
   * Returns whether there are events to append. First gives numbers to the deltas that waited for the running append.
   */
  #hasMore(): boolean {
    if (this.#isDue) {
      this.#isDue = false;
      this.#numberPending();
    }
    return this.#unlogged.length > 0;
  }

  async #assertMayBegin(): Promise<void> {
    if (await this.#options.mayBegin()) return;
    const { runId } = this.#options.run;
    throw storageErrors.STALE_OWNER.begins(runId);
  }

  #accepted(events: readonly StreamEvent[]): void {
    if (this.#refusals > 0) {
      this.#refusals = 0;
      this.#measured = { events: 0, characters: 0 };
      this.#numberPending();
    }
    const startedAt = performance.now();
    this.#options.supervisor.run(() => this.emit('logged', events));
    this.#options.pace.spent(performance.now() - startedAt);
  }

  #refused(error: unknown): void {
    this.#options.meter?.appendRefused();
    if (this.#refusals % emitEvery === 0) this.emit('refused', error);
    this.#refusals += 1;
    this.#numberPending();
    this.#unlogged = this.#unlogged.map(writable);
    if (!this.#sealed && this.#measure().characters > this.#options.maxUnlogged) {
      this.emit('overflow');
    }
  }

  /** Measures the waiting events, each only once; called only while the log rejects events. */
  #measure(): UnloggedCounts {
    const measured = this.#measured;
    for (const { payload } of this.#unlogged.slice(measured.events)) {
      measured.characters += JSON.stringify(payload).length;
    }
    measured.events = this.#unlogged.length;
    const { events, characters } = measured;
    return { events, characters: characters + this.#options.blobs.waiting };
  }

  #end(response: Response | undefined): void {
    this.#sealed = true;
    clearTimeout(this.#timer);
    this.#ended.resolve(response);
  }
}

function isTakenOver(error: unknown): boolean {
  return (
    error instanceof StorageError &&
    ['SEQ_CONFLICT', 'RUN_ENDED', 'STALE_OWNER'].includes(error.code)
  );
}

/**
 * Returns the event. If the event cannot be serialised, returns an event that reports the omission: the log would
 * reject the original event each time.
 */
function writable(event: StreamEvent): StreamEvent {
  try {
    JSON.stringify(event);
    return event;
  } catch {
    const payload = placeholder(event);
    return { ...event, type: payload.type, payload } as StreamEvent;
  }
}

function placeholder({ seq, payload: { type } }: StreamEvent): StreamEvent['payload'] {
  if (type === 'response_start') return { type, modelId: 'unknown', providerId: 'unknown' };
  if (type === 'response_done' || type === 'response_error') {
    return { type: 'response_error', error: unwritable };
  }
  const itemId = `left-out:${seq}`;
  const finalItem = { type: 'error', id: itemId, origin: 'system', ...unwritable } as const;
  return { type: 'item_done', itemId, finalItem };
}
