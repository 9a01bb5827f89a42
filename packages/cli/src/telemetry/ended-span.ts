import { type Span, spanSchemaUrl } from '@liminal/protocol';
import {
  type AttributeValue,
  type HrTime,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan, Span as SdkSpan } from '@opentelemetry/sdk-trace-base';

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT };
const instrumentationScope = { name: 'liminal', schemaUrl: spanSchemaUrl };

/**
 * A span of Liminal in OpenTelemetry's form. Each exporter gets its own copy, because an exporter may add attributes.
 */
export class EndedSpan implements ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly status: SpanStatus;
  readonly attributes: Record<string, AttributeValue>;
  readonly resource: Resource;
  readonly instrumentationScope = instrumentationScope;
  readonly ended = true;
  readonly links = [];
  readonly events = [];
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly parentSpanContext?: SpanContext;
  /** The method uses no private fields: OpenLLMetry reads a span through an object that inherits from the span. */
  readonly spanContext: () => SpanContext;

  constructor(span: Span, resource: Resource, extraAttributes: Span['attributes'] = {}) {
    const { traceId, spanId, parentSpanId, startedAt } = span;
    const endedAt = Math.max(startedAt, span.endedAt);
    this.name = span.name;
    this.kind = kinds[span.kind];
    this.startTime = hrTime(startedAt);
    this.endTime = hrTime(endedAt);
    this.duration = hrTime(endedAt - startedAt);
    this.status = { code: span.hasFailed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET };
    this.attributes = { ...span.attributes, ...extraAttributes };
    this.resource = resource;
    const context = { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
    this.spanContext = () => context;
    if (parentSpanId !== undefined) {
      this.parentSpanContext = { traceId, spanId: parentSpanId, traceFlags: TraceFlags.SAMPLED };
    }
  }

  /**
   * Passed to processors that add attributes when a span starts. They need a separate call, because Liminal's spans
   * have already ended.
   */
  asStarted(): SdkSpan {
    const setAttribute = (key: string, value: AttributeValue | undefined): this => {
      if (value !== undefined) this.attributes[key] = value;
      return this;
    };
    const setAttributes = (more: Record<string, AttributeValue | undefined>): this => {
      for (const [key, value] of Object.entries(more)) setAttribute(key, value);
      return this;
    };
    return Object.assign(this, { setAttribute, setAttributes }) as unknown as SdkSpan;
  }
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}
