import {
  emptyResponse,
  foldResponse,
  type EventPayload,
  type Span,
  toResponse,
} from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { tracedLog } from './traced-log.ts';
import { tracedStore } from './traced-store.ts';
import type { Tracing } from './tracing.ts';

const begins = (itemId: string): EventPayload => ({
  type: 'item_start',
  itemId,
  itemType: 'message',
});
const said = { id: 'b', type: 'message', content: 'Hi.', origin: 'agent' } as const;
const payloads: EventPayload[] = [
  { type: 'response_start', modelId: 'model', providerId: 'anthropic' },
  begins('a'),
  { type: 'item_cancelled', itemId: 'a', reason: 'retried' },
  begins('b'),
  { type: 'item_done', itemId: 'b', finalItem: said },
  { type: 'response_done', status: 'completed' },
];
const events = runOf(payloads);
const [{ runId, traceContext }] = events as [(typeof events)[number]];
const [, traceId, turn] = traceContext.traceparent.split('-');

function opened() {
  const spans: Span[] = [];
  const tracing: Tracing = {
    captureContent: false,
    samples: () => true,
    add: (more) => spans.push(...more),
  };
  const storage = openMemoryStorage();
  return {
    spans,
    log: tracedLog(storage.log, tracing),
    store: tracedStore(storage.store, tracing),
    storage,
  };
}

test('all appends of a run together are one span of the run’s turn, and each withdrawn try is a span', async () => {
  const { spans, log } = opened();
  await log.append(runId, events.slice(0, 4));
  await expect(log.append(runId, events.slice(0, 1))).rejects.toMatchObject({
    code: 'SEQ_CONFLICT',
  });
  expect(spans.map(({ name }) => name)).toEqual(['chat (retried)']);
  await log.append(runId, events.slice(4));
  expect(spans).toMatchObject([
    { name: 'chat (retried)', traceId, parentSpanId: turn },
    {
      name: 'log append',
      traceId,
      parentSpanId: turn,
      attributes: { 'liminal.calls': 3, 'liminal.failures': 1, 'liminal.events': events.length },
    },
  ]);
  expect(await log.read(runId)).toHaveLength(events.length);
});

test('a run that its writer leaves without an end is traced when the log is closed', async () => {
  const { spans, log } = opened();
  await log.append(runId, events.slice(0, 2));
  await log.close();
  expect(spans.map(({ name }) => name)).toEqual(['log append']);
});

test('a run is traced once, when history has its end', async () => {
  const { spans, store } = opened();
  const after = (count: number) =>
    toResponse(events.slice(0, count).reduce(foldResponse, emptyResponse()))!;
  await store.saveResponse(after(2));
  expect(spans).toEqual([]);
  await store.saveResponse(after(6));
  await store.saveResponse(after(6));
  const told = spans.map(({ name, parentSpanId }) => [name, parentSpanId]);
  expect(told).toEqual([
    ['database write', turn],
    ['invoke_agent anthropic', undefined],
    ['chat model', turn],
  ]);
  expect(spans[0]!.attributes).toMatchObject({ 'liminal.calls': 2 });
  expect(spans[1]).toMatchObject({ traceId, spanId: turn });
});

test('an unsampled trace emits no spans', async () => {
  const { spans, log, store } = opened();
  const unsampled = { traceparent: traceContext.traceparent.replace(/01$/, '00') };
  const run = runOf(payloads, { traceContext: unsampled });
  await log.append(runId, run);
  await store.saveResponse(toResponse(run.reduce(foldResponse, emptyResponse()))!);
  expect(spans).toEqual([]);
});

test('without tracing, the log and the store are not wrapped', () => {
  const { storage } = opened();
  expect(tracedLog(storage.log, undefined)).toBe(storage.log);
  expect(tracedStore(storage.store, undefined)).toBe(storage.store);
});
