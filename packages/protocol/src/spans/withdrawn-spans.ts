/** Makes spans of model calls that were retried. The output of these calls was withdrawn, so history lacks it. */
import type { StreamEvent } from '../events.ts';
import { readTraceparent } from '../trace-context.ts';
import { withdrawnAttributes } from './names.ts';
import type { Span } from './run-spans.ts';
import { spanIdOf } from './span-ids.ts';

/** The reasons for a withdrawal that mean that the model call is retried. */
const retryReasons: ReadonlySet<string | undefined> = new Set(['retried', 'retry']);

interface Try {
  event: StreamEvent;
  itemId: string;
  startedAt: number;
  endedAt: number;
  items: number;
}

/** Collects the retried model calls of one run. Expects each event once, in order. */
export class WithdrawnSpans {
  /** The time at which each item began, in ms since the epoch. */
  readonly #begun = new Map<string, number>();
  /** The items that are being withdrawn. All withdrawals of one retried call come directly one after another. */
  #try: Try | undefined;

  /** Returns the span of a retried call, when the next event shows that all items of the call are withdrawn. */
  take(event: StreamEvent): Span | undefined {
    const { payload } = event;
    if (payload.type === 'item_cancelled' && retryReasons.has(payload.reason)) {
      this.#withdraw(event, payload.itemId);
      return undefined;
    }
    if (payload.type === 'item_start') this.#begun.set(payload.itemId, Date.parse(event.timestamp));
    const withdrawn = this.#try;
    this.#try = undefined;
    return withdrawn && toSpan(withdrawn);
  }

  #withdraw(event: StreamEvent, itemId: string): void {
    const endedAt = Date.parse(event.timestamp);
    const startedAt = this.#begun.get(itemId) ?? endedAt;
    const before = this.#try ?? { event, itemId, startedAt, endedAt, items: 0 };
    this.#try = {
      ...before,
      startedAt: Math.min(before.startedAt, startedAt),
      endedAt,
      items: before.items + 1,
    };
  }
}

function toSpan({ event, itemId, startedAt, endedAt, items }: Try): Span | undefined {
  const place = readTraceparent(event.traceContext.traceparent);
  if (!place) return undefined;
  return {
    traceId: place.traceId,
    spanId: spanIdOf(`${event.runId}:withdrawn:${itemId}`),
    parentSpanId: place.spanId,
    name: 'chat (retried)',
    kind: 'client',
    startedAt,
    endedAt,
    attributes: withdrawnAttributes(items),
    hasFailed: true,
  };
}
