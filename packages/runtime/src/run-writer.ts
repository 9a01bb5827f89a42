import type { EventDraft, Response, RunEnvelope, StreamEvent } from '@liminal/protocol';
import {
  closeOpenItems,
  emptyResponse,
  foldResponse,
  isTerminal,
  stampEvent,
  toResponse,
} from '@liminal/protocol';
import type { EventLog } from '@liminal/storage';
import { StorageError } from '@liminal/storage';

export interface RunWriterOptions {
  log: EventLog;
  run: RunEnvelope;
  /** Stands in for a `response_start` that the agent never gave. */
  providerId: string;
  /** Deltas of one item that arrive within so many ms become one event; 0 logs each at once. */
  cadenceMs: number;
  /** Events that the log has just taken, in order (invariant 6). */
  onLogged: (events: readonly StreamEvent[]) => void;
  /** The log refuses to take events; they are kept and tried again. */
  onTrouble: (error: unknown) => void;
}

type DeltaDraft = EventDraft & { payload: { type: 'item_delta' } };

/** How long to wait before the log is tried again after it refused, in ms. */
const RETRY_MS = 500;

/**
 * The one writer of a run: numbers its events (invariant 1), lets exactly one terminal event through (invariant 2),
 * closes what is open before it (invariant 3), and coalesces deltas before the log, so that a flood costs a few
 * appends a second whatever its rate.
 */
export class RunWriter {
  readonly #options: RunWriterOptions;
  /** Deltas that wait for the cadence, by item. */
  readonly #pending = new Map<string, DeltaDraft>();
  /** Numbered events that the log does not have yet. */
  #outbox: StreamEvent[] = [];
  #state = emptyResponse();
  #nextSeq = 0;
  #sealed = false;
  #appending = false;
  #lastDeltaAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  readonly #ended = Promise.withResolvers<Response | undefined>();

  constructor(options: RunWriterOptions) {
    this.#options = options;
  }

  /** Resolves with the folded run when the log has its terminal event; with nothing if another writer took the run. */
  get ended(): Promise<Response | undefined> {
    return this.#ended.promise;
  }

  /** Whether the terminal event has been given; later drafts are ignored. */
  get sealed(): boolean {
    return this.#sealed;
  }

  add(draft: EventDraft): void {
    if (this.#sealed) return;
    if (isDelta(draft)) this.#addDelta(draft);
    else this.#addNow(draft);
  }

  #addDelta(draft: DeltaDraft): void {
    const waiting = this.#pending.get(draft.payload.itemId);
    if (waiting) addDelta(waiting, draft);
    else this.#pending.set(draft.payload.itemId, ownCopy(draft));
    const wait = this.#lastDeltaAt + this.#options.cadenceMs - performance.now();
    if (wait <= 0) this.#release();
    else this.#timer ??= setTimeout(() => this.#release(), wait);
  }

  #addNow(draft: EventDraft): void {
    this.#number([...this.#pending.values()]);
    this.#pending.clear();
    if (this.#nextSeq === 0 && draft.payload.type !== 'response_start')
      this.#startUnannounced(draft);
    if (isTerminal(draft.payload)) {
      this.#sealed = true;
      for (const payload of closeOpenItems(this.#state, endingOf(draft))) {
        this.#number([{ ...draft, payload }]);
      }
    }
    this.#number([draft]);
    void this.#drain();
  }

  #startUnannounced({ turnId, timestamp }: EventDraft): void {
    const { providerId } = this.#options;
    this.#number([
      { turnId, timestamp, payload: { type: 'response_start', modelId: 'unknown', providerId } },
    ]);
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastDeltaAt = performance.now();
    this.#number([...this.#pending.values()]);
    this.#pending.clear();
    void this.#drain();
  }

  #number(drafts: readonly EventDraft[]): void {
    for (const draft of drafts) {
      const event = stampEvent(draft, this.#options.run, this.#nextSeq);
      this.#nextSeq += 1;
      this.#state = foldResponse(this.#state, event);
      this.#outbox.push(event);
    }
  }

  /** Appends what has gathered while the last append was under way, until nothing is left. */
  async #drain(): Promise<void> {
    if (this.#appending) return;
    this.#appending = true;
    while (this.#outbox.length > 0) {
      const batch = this.#outbox;
      this.#outbox = [];
      try {
        await this.#options.log.append(this.#options.run.runId, batch);
      } catch (error) {
        if (isTakenOver(error)) return this.#giveUp(error);
        this.#outbox = [...batch, ...this.#outbox];
        this.#options.onTrouble(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        continue;
      }
      this.#options.onLogged(batch);
      if (batch.some(isTerminal)) this.#finish();
    }
    this.#appending = false;
  }

  #finish(): void {
    clearTimeout(this.#timer);
    this.#ended.resolve(toResponse(this.#state));
  }

  /** The run has another writer now: what it says is the truth (invariant 1). */
  #giveUp(error: unknown): void {
    this.#sealed = true;
    clearTimeout(this.#timer);
    this.#options.onTrouble(error);
    this.#ended.resolve(undefined);
  }
}

function isTakenOver(error: unknown): boolean {
  return error instanceof StorageError && ['SEQ_CONFLICT', 'RUN_ENDED'].includes(error.code);
}

function isDelta(draft: EventDraft): draft is DeltaDraft {
  return draft.payload.type === 'item_delta';
}

/** A draft that can grow; whoever gave the original may still hold it. */
function ownCopy(draft: DeltaDraft): DeltaDraft {
  return { ...draft, payload: { ...draft.payload } };
}

function addDelta({ payload }: DeltaDraft, { payload: more }: DeltaDraft): void {
  payload.deltaContent += more.deltaContent;
  if (more.patch) payload.patch = { ...payload.patch, ...more.patch };
}

function endingOf({ payload }: EventDraft): Parameters<typeof closeOpenItems>[1] {
  if (payload.type === 'response_error') return { status: 'error', error: payload.error };
  if (payload.type !== 'response_done') return { status: 'completed' };
  return payload.error
    ? { status: payload.status, error: payload.error }
    : { status: payload.status };
}
