import { thrownMessage, type Span } from '@liminal/protocol';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { EndedSpan } from './ended-span.ts';

/** How many spans may wait while the destination is slow or unreachable; further spans are lost. */
const waitingMax = 50_000;

export interface OpenedProcessor {
  processor: SpanProcessor;
  /** How many spans the processor accepts before it must be flushed. Without a flush, further spans could be lost. */
  atOnce: number;
  /** Attributes that Liminal adds for this destination alone. */
  extraAttributes?: (span: Span) => Span['attributes'];
}

/**
 * A destination of spans. Each destination has its own queue, because thousands of spans are made at once when a large
 * turn ends.
 */
export class Destination {
  readonly #opened: OpenedProcessor;
  readonly #resource: Resource;
  readonly #onTrouble: (what: string) => void;
  #waiting: Span[] = [];
  /** How many spans the processor has received since its last flush. */
  #given = 0;
  #giving: Promise<void> | undefined;

  constructor(opened: OpenedProcessor, resource: Resource, onTrouble: (what: string) => void) {
    this.#opened = opened;
    this.#resource = resource;
    this.#onTrouble = onTrouble;
  }

  /** Queues spans for the processor, which sends them in batches. */
  add(spans: readonly Span[]): void {
    if (spans.length === 0) return;
    const room = waitingMax - this.#waiting.length;
    if (spans.length > room) this.#onTrouble('More than 50,000 spans wait; the others are lost.');
    this.#waiting.push(...spans.slice(0, Math.max(0, room)));
    this.#giving ??= this.#give().finally(() => (this.#giving = undefined));
  }

  async close(): Promise<void> {
    try {
      await this.#giving;
      await this.#opened.processor.shutdown();
    } catch (error) {
      this.#onTrouble(thrownMessage(error));
    }
  }

  async #give(): Promise<void> {
    // Wait a tick, so that the end of a turn reaches its subscribers before the spans are sent.
    await new Promise((resolve) => setImmediate(resolve));
    const { processor, atOnce } = this.#opened;
    while (this.#waiting.length > 0) {
      if (this.#given >= atOnce) {
        await processor
          .forceFlush()
          .catch((error: unknown) => this.#onTrouble(thrownMessage(error)));
        this.#given = 0;
      }
      const spans = this.#waiting.splice(0, atOnce - this.#given);
      this.#given += spans.length;
      for (const span of spans) this.#end(span);
    }
  }

  #end(span: Span): void {
    const { processor, extraAttributes } = this.#opened;
    const ended = new EndedSpan(span, this.#resource, extraAttributes?.(span));
    processor.onStart(ended.asStarted(), ROOT_CONTEXT);
    processor.onEnd(ended);
  }
}
