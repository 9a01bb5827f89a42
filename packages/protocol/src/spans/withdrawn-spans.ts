/** The fold from a run's events to spans of what its model said in vain: it was asked again, and history has only that. */
import type { StreamEvent } from '../events.ts';
import { readTraceparent } from '../trace-context.ts';
import { withdrawnAttributes } from './names.ts';
import type { Span } from './run-spans.ts';
import { spanIdOf } from './span-ids.ts';

/** Why translators take back what a model has said. */
const asked: ReadonlySet<string | undefined> = new Set(['retried', 'retry']);

interface Try {
  event: StreamEvent;
  itemId: string;
  startedAt: number;
  endedAt: number;
  items: number;
}

/** The tries of one run. Feed it each event once, in order. */
export class WithdrawnSpans {
  /** When items began, ms since the epoch. */
  readonly #begun = new Map<string, number>();
  /** The items that are being taken back: those of one try follow each other. */
  #try: Try | undefined;

  /** Returns the span of a try when the next event shows that it is complete. */
  take(event: StreamEvent): Span | undefined {
    const { payload } = event;
    if (payload.type === 'item_cancelled' && asked.has(payload.reason)) {
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
