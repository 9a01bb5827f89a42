import { expect, test } from 'vitest';
import { entryIdOf, type StreamEntry } from '../streams/index.ts';
import { RunTail } from './run-tail.ts';

const constants = { sessionId: 's', turnId: 't', traceContext: { traceparent: 'p' } };

/** Events as stream entries. */
const entries = (from: number, to: number): StreamEntry[] =>
  Array.from({ length: to - from + 1 }, (_, index) => {
    const payload = JSON.stringify({ type: 'item_delta', itemId: 'a', deltaContent: '.' });
    const row = ['type', 'item_delta', 'timestamp', '2026-01-01T00:00:00.000Z', 'payload', payload];
    return [entryIdOf(from + index), row];
  });

const seqs = (tail: RunTail, after: number) => tail.since(after)?.map(({ seq }) => seq);

test('INV-7 a tail that has missed events returns only the events after the gap', () => {
  const tail = new RunTail('run', { constants, lastSeq: 0, ended: false, settled: false });
  tail.take(entries(1, 3));
  tail.take(entries(8, 9));
  expect(seqs(tail, 3)).toBeUndefined();
  expect(seqs(tail, 7)).toEqual([8, 9]);
  expect(seqs(tail, 8)).toEqual([9]);
  tail.take(entries(10, 10));
  expect(seqs(tail, 9)).toEqual([10]);
});

test('a tail that gets some events a second time returns each event once', () => {
  const tail = new RunTail('run', { constants, lastSeq: 5, ended: false, settled: false });
  tail.take(entries(4, 7));
  expect(seqs(tail, 5)).toEqual([6, 7]);
  expect(seqs(tail, 6)).toEqual([7]);
});
