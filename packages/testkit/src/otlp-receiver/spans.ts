import protobuf from 'protobufjs';
import { z } from 'zod';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  /** SpanKind. */
  kind: number;
  /** The start, in ms since the epoch. */
  startedAt: number;
  endedAt: number;
  attributes: Record<string, unknown>;
  hasFailed: boolean;
  /** The resource of the program that sent the span. */
  resource: Record<string, unknown>;
}

/**
 * The parts of opentelemetry-proto's trace.proto that the receiver reads. The field numbers of trace.proto never
 * change.
 */
const schema = `syntax = "proto3";
message Value { oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4; } }
message Attribute { string key = 1; Value value = 2; }
message Status { int32 code = 3; }
message Span {
  bytes traceId = 1; bytes spanId = 2; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
  fixed64 startTimeUnixNano = 7; fixed64 endTimeUnixNano = 8;
  repeated Attribute attributes = 9; Status status = 15;
}
message Scope { repeated Span spans = 2; }
message Resource { repeated Attribute attributes = 1; }
message ResourceSpans { Resource resource = 1; repeated Scope scopeSpans = 2; }
message Request { repeated ResourceSpans resourceSpans = 1; }`;
const ProtobufRequest = protobuf.parse(schema).root.lookupType('Request');

const Value = z
  .object({
    stringValue: z.string(),
    boolValue: z.boolean(),
    intValue: z.coerce.number(),
    doubleValue: z.number(),
  })
  .partial();
const Attributes = z
  .array(z.object({ key: z.string(), value: Value.nullish() }))
  .default([])
  .transform((all) =>
    Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value ?? {})[0]])),
  );
const Nanoseconds = z.string().regex(/^\d{19}$/);
const Request = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string().regex(/^[\da-f]{32}$/),
              spanId: z.string().regex(/^[\da-f]{16}$/),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.number(),
              startTimeUnixNano: Nanoseconds,
              endTimeUnixNano: Nanoseconds,
              attributes: Attributes,
              status: z.object({ code: z.number().optional() }).nullish(),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** Returns the spans in a body. Throws if the body is not an `ExportTraceServiceRequest`. */
export function spansIn(bytes: Buffer, contentType = ''): ReceivedSpan[] {
  const isJson = contentType.startsWith('application/json');
  const said: unknown = isJson ? JSON.parse(bytes.toString()) : fromProtobuf(bytes);
  return Request.parse(said).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ parentSpanId, startTimeUnixNano, endTimeUnixNano, status, ...span }) => ({
        ...span,
        // An empty id means that the span has no parent.
        parentSpanId: parentSpanId || undefined,
        startedAt: ms(startTimeUnixNano),
        endedAt: ms(endTimeUnixNano),
        hasFailed: status?.code === 2,
        resource: resource.attributes,
      })),
    ),
  );
}

/** Converts protobuf to the format of OTLP's JSON. The ids in that format are hexadecimal. */
function fromProtobuf(bytes: Buffer): unknown {
  const options = { longs: String, bytes: String, defaults: false };
  const request = ProtobufRequest.toObject(ProtobufRequest.decode(bytes), options);
  return JSON.parse(JSON.stringify(request), (key, value: unknown) =>
    /^(trace|span|parentSpan)Id$/.test(key) && typeof value === 'string'
      ? Buffer.from(value, 'base64').toString('hex')
      : value,
  );
}

function ms(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1_000n) / 1_000;
}
