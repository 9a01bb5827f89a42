import type {
  FoldOutput,
  Response,
  ResponseState,
  StreamEvent,
  UpsertFoldState,
} from '@liminal/protocol';
import {
  emptyResponse,
  flushIdle,
  foldResponse,
  foldUpsert,
  hasEnded,
  nextFlushAt,
  onEpoch,
  resumeUpsertFold,
  toResponse,
} from '@liminal/protocol';
import type { TracedRun } from '../tracing/index.ts';

/** The outputs of one logged event, or of elapsed time, for each kind of subscriber. */
export interface RunOutputs {
  /** The outputs for subscribers that take appends. */
  live: FoldOutput[];
  /**
   * The outputs for subscribers that take full states by the batch gradient; empty if `hasPlainSubscribers` is false.
   */
  plain: FoldOutput[];
}

/** The shared state of a running turn, folded from logged events (invariant 6). */
export class OpenRun {
  #live: UpsertFoldState;
  /**
   * The fold for subscribers of full states. Undefined while there are no such subscribers, which is usual; a second
   * fold doubles the cost of each event.
   */
  #plain: UpsertFoldState | undefined;
  /** The run's trace, read from its events. */
  traced: TracedRun | undefined;
  #rendered: { state: ResponseState; response: Response | undefined } | undefined;

  /** @param response - The part of the run that is already known and shown. */
  constructor(response: ResponseState = emptyResponse()) {
    this.#live = resumeUpsertFold(response, { appends: true });
  }

  /** Whether any subscriber takes full states; each gets the run's current state when it subscribes. */
  set hasPlainSubscribers(has: boolean) {
    this.#plain = has ? (this.#plain ?? resumeUpsertFold(this.#live.response)) : undefined;
  }

  apply(event: StreamEvent, now: number): RunOutputs {
    this.traced ??= { runId: event.runId, traceContext: event.traceContext };
    const response = foldResponse(this.#live.response, event);
    // Subscribers get dates.
    const epoch = Date.now() - now;
    const live = foldUpsert({ ...this.#live, epoch }, event, now, response);
    const plain = this.#plain && foldUpsert({ ...this.#plain, epoch }, event, now, response);
    this.#live = live.state;
    this.#plain = plain?.state;
    const outputs = { live: live.outputs, plain: plain?.outputs ?? [] };
    if (event.payload.type !== 'item_cancelled') return outputs;
    return {
      live: this.#withDiscard(event, outputs.live),
      plain: plain ? this.#withDiscard(event, outputs.plain) : [],
    };
  }

  flush(now: number): FoldOutput[] {
    if (!this.#plain) return [];
    const { state, outputs } = flushIdle(onEpoch(this.#plain, Date.now() - now), now);
    this.#plain = state;
    return outputs;
  }

  /**
   * Adds a discard for a withdrawn item that the folds never showed: a subscriber that joined during the turn may have
   * the item from its snapshot. Subscribers without the item ignore the discard.
   */
  #withDiscard({ payload, turnId }: StreamEvent, outputs: FoldOutput[]): FoldOutput[] {
    if (payload.type !== 'item_cancelled') return outputs;
    const { itemId } = payload;
    const isDiscarded = outputs.some(
      (output) => output.kind === 'discard' && output.itemId === itemId,
    );
    const stays = this.#live.response.items.byId.has(itemId);
    return isDiscarded || stays ? outputs : [...outputs, { kind: 'discard', turnId, itemId }];
  }

  get hasEnded(): boolean {
    return hasEnded(this.#live.response);
  }

  /** `seq` of the last applied event; -1 before the first. */
  get lastSeq(): number {
    return this.#live.response.lastSeq;
  }

  /** The time at which `flush` will have output, on the clock of `now`. */
  get flushAt(): number | undefined {
    return this.#plain && nextFlushAt(this.#plain);
  }

  /** Returns the same object until the run changes, because several subscribers read it. */
  get response(): Response | undefined {
    const { response: state } = this.#live;
    if (this.#rendered?.state !== state) this.#rendered = { state, response: toResponse(state) };
    return this.#rendered.response;
  }
}
