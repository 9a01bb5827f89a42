import {
  readTraceparent,
  type SpanContext,
  stageAttributes,
  type TraceContext,
} from '@liminal/protocol';
import { newId } from './new-id.ts';
import type { Tracing } from './tracing.ts';

/**
 * A run, and the trace that its events carry. Whichever process runs a stage, the stage's span is in the turn's trace.
 */
export interface TracedRun {
  runId: string;
  traceContext: TraceContext | undefined;
}

/** One stage of a run as one span: many short operations, counted and timed. */
export class Stage {
  readonly #tracing: Tracing;
  readonly #runId: string;
  readonly #turn: SpanContext;
  readonly #name: string;
  /** In ms since the epoch. */
  readonly #startedAt = Date.now();
  readonly #counts: Record<string, number> = {};
  #calls = 0;
  #failures = 0;
  #busyMs = 0;
  #slowestMs = 0;
  #endedAt = this.#startedAt;
  #isOver = false;

  /** Returns the stage of a run; undefined if the run is not traced. */
  static of(tracing: Tracing | undefined, run: TracedRun, name: string): Stage | undefined {
    if (!tracing) return undefined;
    const turn = readTraceparent(run.traceContext?.traceparent);
    return turn?.isSampled ? new Stage(tracing, run.runId, turn, name) : undefined;
  }

  private constructor(tracing: Tracing, runId: string, turn: SpanContext, name: string) {
    this.#tracing = tracing;
    this.#runId = runId;
    this.#turn = turn;
    this.#name = name;
  }

  /** Runs and times one operation of the stage. */
  async work<T>(step: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    try {
      return await step();
    } catch (error) {
      this.#failures += 1;
      throw error;
    } finally {
      this.took(performance.now() - begun);
    }
  }

  /** Adds a finished operation that took `ms`. */
  took(ms: number): void {
    this.#calls += 1;
    this.#busyMs += ms;
    this.#slowestMs = Math.max(this.#slowestMs, ms);
    this.#endedAt = Date.now();
  }

  count(name: string, more: number): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + more;
  }

  /** Emits the stage's span, once. */
  end({ hasFailed = false } = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tracing.add([
      {
        traceId: this.#turn.traceId,
        spanId: newId(8),
        parentSpanId: this.#turn.spanId,
        name: this.#name,
        kind: 'internal',
        startedAt: this.#startedAt,
        endedAt: this.#endedAt,
        attributes: stageAttributes({
          runId: this.#runId,
          calls: this.#calls,
          failures: this.#failures,
          busyMs: rounded(this.#busyMs),
          slowestMs: rounded(this.#slowestMs),
          counts: this.#counts,
        }),
        hasFailed,
      },
    ]);
  }
}

/** Rounds to microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
