import { randomBytes } from 'node:crypto';
import type { Tracing } from './tracing.ts';

/** Returns random bytes in hexadecimal that are not all zero: 16 bytes for a trace, 8 bytes for a span. */
export function newId(bytes: 8 | 16): string {
  const id = randomBytes(bytes);
  return id.some((byte) => byte > 0) ? id.toString('hex') : newId(bytes);
}

/** A new trace. */
export function newTrace(tracing: Tracing | undefined): { traceId: string; isSampled: boolean } {
  const traceId = newId(16);
  return { traceId, isSampled: tracing?.samples(traceId) ?? true };
}
