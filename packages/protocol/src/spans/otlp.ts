/** Converts spans to a request of OTLP over HTTP, in JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
import { type AttributeValue, schemaUrl } from './names.ts';
import type { Span } from './run-spans.ts';

/** The numbers of SpanKind. */
const kinds = { internal: 1, server: 2, client: 3 } as const;

/** Returns an `ExportTraceServiceRequest`. */
export function toOtlp(spans: readonly Span[], serviceName: string) {
  const resource = { attributes: [attribute(['service.name', serviceName])] };
  const scopeSpans = [{ scope: { name: 'liminal' }, spans: spans.map(toOtlpSpan), schemaUrl }];
  return { resourceSpans: [{ resource, scopeSpans, schemaUrl }] };
}

function toOtlpSpan(span: Span) {
  const { traceId, spanId, parentSpanId, name, startedAt, endedAt } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: kinds[span.kind],
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(Math.max(startedAt, endedAt)),
    attributes: Object.entries(span.attributes).map(attribute),
    // Status code 2 is an error; without an error the status is unset.
    status: span.hasFailed ? { code: 2 } : {},
  };
}

function attribute([key, value]: [string, AttributeValue]) {
  if (typeof value === 'boolean') return { key, value: { boolValue: value } };
  if (typeof value === 'string') return { key, value: { stringValue: value } };
  // 64-bit integers are strings in JSON.
  if (Number.isInteger(value)) return { key, value: { intValue: String(value) } };
  return { key, value: { doubleValue: value } };
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms)) * 1_000_000n);
}
