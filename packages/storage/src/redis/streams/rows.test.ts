import { expect, test } from 'vitest';
import { decodeEvent } from '../../log/event-rows.ts';
import { constantsIn, progressOf, eventRowOf, type StreamEntry } from './rows.ts';

const traceContext = { traceparent: '00-1-2-01' };
const constants = { sessionId: 's', turnId: 't', traceContext };
const entry = (payload: string, trace = JSON.stringify(traceContext)): StreamEntry => [
  '0-1',
  ['type', 'item_done', 'timestamp', '2026-01-01T00:00:00.000Z', 'payload', payload].concat([
    'sessionId',
    's',
    'turnId',
    't',
    'traceContext',
    trace,
  ]),
];

test.each(['{"traceparen": "x"}', '{', '7', ''])(
  'SAFE: if the constants of a run are damaged, they are read as undefined: %s',
  (damaged) => {
    expect(constantsIn(entry('{}', damaged))).toBeUndefined();
    expect(progressOf([damaged, 3, '', ''])).toBeUndefined();
    const whole = [JSON.stringify(constants), 3, '1', ''];
    expect(progressOf(whole)).toEqual({ constants, lastSeq: 3, ended: true, settled: false });
  },
);

test('SAFE: an event with a wrong field becomes an error item', () => {
  for (const payload of ['{"type":"item_done","itemIe":"a","finalItem":{}}', '{"type":']) {
    const row = eventRowOf(entry(payload));
    expect(row && decodeEvent('r', constants, row)).toMatchObject({
      seq: 0,
      payload: { type: 'item_done', finalItem: { code: 'LOG_DAMAGED' } },
    });
  }
});
