import {
  emptyResponse,
  type EventPayload,
  foldResponse,
  stampEvent,
  type StreamEvent,
  toResponse,
} from '@liminal/protocol';
import type { EventLog, ResponseStore } from '@liminal/storage';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { expect, onTestFinished, test } from 'vitest';
import { Projector } from './projector.ts';

const start: EventPayload = { type: 'response_start', modelId: 'm', providerId: 'demo' };
const done: EventPayload = { type: 'response_done', status: 'completed', finishReason: null };
const sessionId = 'session';
const logger = { info: () => {}, warn: () => {}, error: () => {} };

/** A run of a few milliseconds. */
function eventsOf(runId: string, at: number, said: readonly EventPayload[] = []): StreamEvent[] {
  const traceContext = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
  return [start, ...said, done].map((payload, seq) => {
    const timestamp = new Date(at + seq).toISOString();
    const draft = { turnId: runId, timestamp, payload };
    return stampEvent(draft, { runId, sessionId, traceContext }, seq);
  });
}

async function logTurn(log: EventLog, runId: string, at: number): Promise<void> {
  await log.append(runId, eventsOf(runId, at));
}

test('a session’s runs stay in order in history even if the projector of an earlier run is late', async () => {
  const storage = openSharedMemoryStorage();
  const { log, store, coordination } = storage;
  const isStored = Promise.withResolvers<void>();
  const asked: string[] = [];
  const late: ResponseStore['getResponse'] = async (runId) => {
    const isLate = runId !== 'last' && !asked.includes(runId);
    asked.push(runId);
    if (isLate) await isStored.promise;
    return store.getResponse(runId);
  };
  const lateStore = new Proxy(store, {
    get: (_, name) => (name === 'getResponse' ? late : Reflect.get(store, name).bind(store)),
  });
  const project = (own: ResponseStore): void => {
    const projector = new Projector({ storage: { log, store: own }, ...coordination, logger });
    onTestFinished(async () => projector.close());
  };
  project(lateStore);
  onTestFinished(() => isStored.resolve());
  // The runs do not end in the order in which they began: a run that its projector has released is at the end of the
  // registry.
  await logTurn(log, 'later', 5_000);
  await logTurn(log, 'first', 1_000);
  await logTurn(log, 'third', 3_000);
  await logTurn(log, 'second', 2_000);
  await expect.poll(() => asked).toEqual(['later', 'first', 'third', 'second']);
  project(store);
  await logTurn(log, 'last', 4_000);
  await expect.poll(async () => (await store.getResponse('last'))?.status).toBe('complete');
  const stored = async () => (await store.listRuns(sessionId))?.map(({ id }) => id);
  expect(await stored()).toEqual(['first', 'second', 'third', 'last']);

  isStored.resolve();
  await expect.poll(async () => log.unsettled()).toEqual([]);
  expect(await stored()).toEqual(['first', 'second', 'third', 'last', 'later']);
});

test('a run is stored completely even if, between the reads of store and log, another projector stores a part and the log drops that part', async () => {
  const storage = openSharedMemoryStorage();
  const { log, store, coordination } = storage;
  const message = { type: 'message', id: 'a', content: 'Hello', origin: 'agent' } as const;
  const events = eventsOf('run', 1_000, [
    { type: 'item_start', itemId: 'a', itemType: 'message' },
    { type: 'item_done', itemId: 'a', finalItem: message },
  ]);
  const upTo = (seq: number) => {
    const response = toResponse(events.slice(0, seq + 1).reduce(foldResponse, emptyResponse()));
    if (!response) throw new Error('The run has not begun.');
    return response;
  };
  await store.saveResponse(upTo(1));
  let isDropped = false;
  const follow: EventLog['follow'] = (runId, options) => {
    if (isDropped) return log.follow(runId, options);
    isDropped = true;
    return log.follow(runId, { ...options, after: 2 });
  };
  const dropping = new Proxy(log, {
    get: (_, name) => (name === 'follow' ? follow : Reflect.get(log, name).bind(log)),
  });
  const projector = new Projector({ storage: { log: dropping, store }, ...coordination, logger });
  onTestFinished(async () => projector.close());
  await log.append('run', events);

  await expect.poll(async () => log.unsettled(), { timeout: 5_000 }).toEqual([]);
  expect(isDropped).toBe(true);
  expect(await store.getResponse('run')).toEqual(upTo(3));
});

test('every event of a run is archived before the log may drop it, even if another projector saved the run first', async () => {
  const storage = openSharedMemoryStorage();
  const { log, store, coordination, eventArchive: archive } = storage;
  if (!archive) throw new Error('The archive is missing.');
  const text = { type: 'item_start', itemId: 'a', itemType: 'message' } as const;
  const [first, second] = [eventsOf('first', 1_000, [text]), eventsOf('second', 2_000)];
  const kept: string[] = [];
  const dropping = new Proxy(log, {
    get: (_, name) =>
      name === 'settle'
        ? async (runId: string) => {
            kept.push(...(await archive.read(runId)).map(({ eventId }) => eventId));
            await log.settle(runId);
          }
        : Reflect.get(log, name).bind(log),
  });
  await log.append('first', first.slice(0, 2));
  await log.append('second', second);
  const keeping = { log: dropping, store, enabledArchive: archive };
  const projector = new Projector({ storage: keeping, ...coordination, logger });
  onTestFinished(async () => projector.close());
  await expect.poll(async () => (await store.getResponse('second'))?.status).toBe('complete');
  await log.append('first', first.slice(2));
  await expect.poll(async () => log.unsettled(), { timeout: 5_000 }).toEqual([]);
  expect(await archive.read('first')).toEqual(first);
  expect(await archive.read('second')).toEqual(second);
  expect(kept.toSorted()).toEqual([...first, ...second].map(({ eventId }) => eventId).toSorted());
});
