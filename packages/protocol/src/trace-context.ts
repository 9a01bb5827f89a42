/** The trace to which a run belongs, as W3C trace context, level 1 (https://www.w3.org/TR/trace-context-1/). */
import { z } from 'zod';

/**
 * Matches a `traceparent` of any version, in lower-case hexadecimal. Ids of only zeros and version `ff` are not valid.
 */
const anyVersion =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
/** A `traceparent` as Liminal writes it: version 00, with `sampled` as the only possible flag. */
const version00 = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-0[01]$/;

/** One member of a `tracestate`: a key, possibly with a tenant, and a value of printable ASCII without `,` and `=`. */
const member =
  /^[a-z\d][a-z\d_\-*/]{0,240}(@[a-z][a-z\d_\-*/]{0,13})?=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const maxMembers = 32;
/** The longest `tracestate` that is passed on, in characters; a longer `tracestate` is dropped. */
const maxState = 512;

/**
 * A trace context as a field of events and messages, because a log has no headers that could carry the trace context.
 * The trace context of an event contains the span of the event's turn.
 */
export const TraceContext = z.object({
  traceparent: z.string().regex(version00),
  tracestate: z.string().min(1).max(maxState).optional(),
});
export type TraceContext = z.infer<typeof TraceContext>;

/** The content of a `traceparent`; the ids are 32 and 16 hexadecimal digits. */
export interface SpanContext {
  traceId: string;
  spanId: string;
  isSampled: boolean;
}

/** Parses a `traceparent`; undefined if it is not valid and must be ignored. */
export function readTraceparent(header: unknown): SpanContext | undefined {
  const [, version, traceId, spanId, flags, more] =
    typeof header === 'string' ? (anyVersion.exec(header) ?? []) : [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Only versions after 00 may have additional fields.
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/**
 * Returns the trace context in a request's headers; undefined if the headers contain no valid trace context. Never
 * throws.
 */
export function readTrace(headers: {
  traceparent?: unknown;
  tracestate?: unknown;
}): TraceContext | undefined {
  const place = readTraceparent(headers.traceparent);
  if (!place) return undefined;
  const tracestate = readTracestate(headers.tracestate);
  return { traceparent: writeTraceparent(place), ...(tracestate && { tracestate }) };
}

/** Returns a `traceparent` of version 00. */
export function writeTraceparent({ traceId, spanId, isSampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

function readTracestate(header: unknown): string | undefined {
  if (typeof header !== 'string' || header.length > maxState) return undefined;
  const members = header
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  const keys = new Set(members.map((one) => one.slice(0, one.indexOf('='))));
  const isValid =
    members.length <= maxMembers &&
    keys.size === members.length &&
    members.every((one) => member.test(one));
  return isValid && members.length > 0 ? members.join(',') : undefined;
}
