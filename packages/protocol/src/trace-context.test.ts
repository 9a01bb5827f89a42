import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StreamEvent } from './events.ts';
import { runOf } from './testing/index.ts';
import { readTrace, readTraceparent, TraceContext, writeTraceparent } from './trace-context.ts';

const hex = (digits: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'.split('')), {
      minLength: digits,
      maxLength: digits,
    })
    .map((all) => all.join(''))
    .filter((id) => !/^0+$/.test(id));
const place = fc.record({ traceId: hex(32), spanId: hex(16), isSampled: fc.boolean() });

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const valid = `00-${traceId}-${spanId}-01`;

test('any trace and span id that was written is read unchanged, and is valid in an event', () => {
  fc.assert(
    fc.property(place, (where) => {
      const traceparent = writeTraceparent(where);
      expect(readTraceparent(traceparent)).toEqual(where);
      expect(TraceContext.parse({ traceparent })).toEqual({ traceparent });
    }),
  );
});

test('a header with any text is either a valid trace or ignored; it never causes an error', () => {
  const parts = fc.constantFrom('00', 'ff', '01', traceId, spanId, '0'.repeat(32), '-', 'A', '\n');
  const text = fc.oneof(
    fc.string(),
    fc.array(parts).map((all) => all.join('-')),
    fc.anything(),
  );
  fc.assert(
    fc.property(text, text, (traceparent, tracestate) => {
      const context = readTrace({ traceparent, tracestate });
      expect(TraceContext.optional().parse(context)).toEqual(context);
    }),
  );
});

test.each([
  ['an empty text', ''],
  ['capitals', valid.toUpperCase()],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['version ff', `ff-${traceId}-${spanId}-01`],
  ['more fields than version 00 has', `${valid}-more`],
  ['a later version with more text in its last field', `01-${traceId}-${spanId}-01more`],
  ['two headers', `${valid}, ${valid}`],
])('a traceparent with %s is ignored, and so is its tracestate', (_, traceparent) => {
  expect(readTrace({ traceparent, tracestate: 'a=1' })).toBeUndefined();
});

test('additional fields of later versions are dropped, and unknown flags are cleared', () => {
  expect(readTrace({ traceparent: `cc-${traceId}-${spanId}-ff-more` })).toEqual({
    traceparent: valid,
  });
  expect(readTrace({ traceparent: `00-${traceId}-${spanId}-02` })).toEqual({
    traceparent: `00-${traceId}-${spanId}-00`,
  });
});

test.each([
  ['of two vendors', 'rojo=00f067aa0ba902b7, congo=t61r', 'rojo=00f067aa0ba902b7,congo=t61r'],
  ['without a value', 'rojo', undefined],
  ['with a duplicate key', 'a=1,a=2', undefined],
  ['that is too long', `a=${'x'.repeat(600)}`, undefined],
])('a tracestate %s does not change the trace', (_, tracestate, kept) => {
  expect(readTrace({ traceparent: valid, tracestate })).toEqual({
    traceparent: valid,
    ...(kept !== undefined && { tracestate: kept }),
  });
});

test('an event without a valid trace is refused', () => {
  const [event] = runOf([{ type: 'heartbeat' }]);
  expect(StreamEvent.safeParse(event).success).toBe(true);
  for (const traceContext of [undefined, {}, { traceparent: '' }, { traceparent: '00-1-2-01' }]) {
    expect(StreamEvent.safeParse({ ...event, traceContext }).success).toBe(false);
  }
});
