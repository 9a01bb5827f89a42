/** W3C trace context, level 1 (https://www.w3.org/TR/trace-context-1/): which trace a run belongs to. */
import { z } from 'zod';

/** Lower-case hexadecimal; ids of zeros alone and version `ff` are not valid. */
const anyVersion =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
/** As we write it: version 00, of the flags only `sampled`. */
const ours = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-0[01]$/;

/** One member of a `tracestate`: a key, perhaps with a tenant, and printable ASCII without `,` and `=`. */
const member =
  /^[a-z\d][a-z\d_\-*/]{0,240}(@[a-z][a-z\d_\-*/]{0,13})?=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const maxMembers = 32;
/** Characters that are passed on; one that is longer is left out as a whole. */
const maxState = 512;

/** Carried by hand because a log does not propagate it. An event's names the span of its turn. */
export const TraceContext = z.object({
  traceparent: z.string().regex(ours),
  tracestate: z.string().min(1).max(maxState).optional(),
});
export type TraceContext = z.infer<typeof TraceContext>;

/** What a `traceparent` says; the ids are 32 and 16 hexadecimal digits. */
export interface SpanPlace {
  traceId: string;
  spanId: string;
  isSampled: boolean;
}

/** Reads a `traceparent`; undefined if it is not valid, which is to be ignored. */
export function readTraceparent(header: unknown): SpanPlace | undefined {
  const [, version, traceId, spanId, flags, more] =
    typeof header === 'string' ? (anyVersion.exec(header) ?? []) : [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Only later versions may have more to say.
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The trace context of a request by its headers; undefined if it has no valid one. Never throws. */
export function readTrace(headers: {
  traceparent?: unknown;
  tracestate?: unknown;
}): TraceContext | undefined {
  const place = readTraceparent(headers.traceparent);
  if (!place) return undefined;
  const tracestate = readTracestate(headers.tracestate);
  return { traceparent: writeTraceparent(place), ...(tracestate && { tracestate }) };
}

/** A `traceparent` of version 00. */
export function writeTraceparent({ traceId, spanId, isSampled }: SpanPlace): string {
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
