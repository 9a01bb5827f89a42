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
  resumeUpsertFold,
  toResponse,
} from '@liminal/protocol';
import type { TracedRun } from '../tracing/index.ts';

/** What one logged event, or the passing of time, means to each kind of reader. */
export interface RunOutputs {
  /** For readers that take appends. */
  live: FoldOutput[];
  /** For readers that take full states by the batch gradient; empty while `foldForPlain` was not called. */
  plain: FoldOutput[];
}

/** The shared state of a run that is under way, folded from what the log has (invariant 6). */
export class OpenRun {
  #live: UpsertFoldState;
  /** Folded only while there are readers of full states: they are rare, and each event would cost twice. */
  #plain: UpsertFoldState | undefined;
  /** As its events say. */
  traced: TracedRun | undefined;
  #rendered: { state: ResponseState; response: Response | undefined } | undefined;

  /** @param response - What is already known of the run, and shown. */
  constructor(response: ResponseState = emptyResponse()) {
    this.#live = resumeUpsertFold(response, { appends: true });
  }

  /** Whether there are readers of full states, who are given what the run shows when they begin. */
  set hasPlainReaders(has: boolean) {
    this.#plain = has ? (this.#plain ?? resumeUpsertFold(this.#live.response)) : undefined;
  }

  apply(event: StreamEvent, now: number): RunOutputs {
    this.traced ??= { runId: event.runId, traceContext: event.traceContext };
    const response = foldResponse(this.#live.response, event);
    const live = foldUpsert(this.#live, event, now, response);
    const plain = this.#plain && foldUpsert(this.#plain, event, now, response);
    this.#live = live.state;
    this.#plain = plain?.state;
    return {
      live: this.#withDiscard(event, live.outputs),
      plain: plain ? this.#withDiscard(event, plain.outputs) : [],
    };
  }

  flush(now: number): FoldOutput[] {
    if (!this.#plain) return [];
    const { state, outputs } = flushIdle(this.#plain, now);
    this.#plain = state;
    return outputs;
  }

  /**
   * A reader that came mid-turn was given items that the folds had not shown yet, so it must be told to forget them; for
   * readers that never had them it makes no difference.
   */
  #withDiscard({ payload, turnId }: StreamEvent, outputs: FoldOutput[]): FoldOutput[] {
    if (payload.type !== 'item_cancelled') return outputs;
    const { itemId } = payload;
    const told = outputs.some((output) => output.kind === 'discard' && output.itemId === itemId);
    const stays = this.#live.response.items.byId.has(itemId);
    return told || stays ? outputs : [...outputs, { kind: 'discard', turnId, itemId }];
  }

  get hasEnded(): boolean {
    return hasEnded(this.#live.response);
  }

  /** `seq` of the last applied event; -1 before the first. */
  get lastSeq(): number {
    return this.#live.response.lastSeq;
  }

  /** When `flush` has something to give, in ms since the epoch. */
  get flushAt(): number | undefined {
    return this.#plain && nextFlushAt(this.#plain);
  }

  /** The same object until something changes: several readers ask for it, more than once. */
  get response(): Response | undefined {
    const { response: state } = this.#live;
    if (this.#rendered?.state !== state) this.#rendered = { state, response: toResponse(state) };
    return this.#rendered.response;
  }
}
