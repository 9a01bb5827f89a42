import { randomBytes } from 'node:crypto';
import type { Tracing } from './tracing.ts';

/** Random bytes in hexadecimal, which are not all zero: 16 for a trace, 8 for a span. */
export function newId(bytes: 8 | 16): string {
  const id = randomBytes(bytes);
  return id.some((byte) => byte > 0) ? id.toString('hex') : newId(bytes);
}

/** A new trace. */
export function newTrace(tracing: Tracing | undefined): { traceId: string; isSampled: boolean } {
  const traceId = newId(16);
  return { traceId, isSampled: tracing?.samples(traceId) ?? true };
}
