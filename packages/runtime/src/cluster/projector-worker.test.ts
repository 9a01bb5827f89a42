import { runOf } from '@liminal/protocol/testing';
import type { StreamEvent } from '@liminal/protocol';
import type { Board, OpenedStorage, Coordination } from '@liminal/storage';
import { MemoryUpsertStreams, openSharedMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { RuntimeSettings } from '../settings.ts';
import { startProjectorWorker } from './projector-worker.ts';
import { useFakeDelays } from './testing/fake-delays.ts';
import { sessionRecord } from './testing/session-record.ts';

beforeEach(useFakeDelays);

const leaseMs = 10_000;
const { sessionId } = sessionRecord;
const named = { runId: 'run', turnId: 'run', sessionId };
const wholeRun = (ids: typeof named): StreamEvent[] =>
  runOf(
    [
      { type: 'response_start', modelId: 'm', providerId: 'p' },
      { type: 'response_done', status: 'completed' },
    ],
    ids,
  );
const whole = wholeRun(named);
const begun = whole.slice(0, 1) as [StreamEvent];

function startWorker(
  settings: Partial<RuntimeSettings> = {},
  storage: OpenedStorage & { coordination: Coordination } = openSharedMemoryStorage(),
) {
  const { board, leases } = storage.coordination;
  const warnings: string[] = [];
  const recovered: string[] = [];
  /** How many of the next postings fail. */
  const faults = { postings: 0 };
  const post: Board['post'] = async (...posting) => {
    faults.postings -= 1;
    if (faults.postings >= 0) throw new Error('The board is away.');
    return board.post(...posting);
  };
  const reached: Board = {
    post,
    read: async (names) => board.read(names),
    watch: async (...watched) => board.watch(...watched),
  };
  const warn = (details: object, text: string) => void warnings.push(text);
  const worker = startProjectorWorker({
    storage: { ...storage, coordination: { ...storage.coordination, board: reached } },
    logger: { info: () => {}, error: () => {}, warn },
    settings: { leaseMs: leaseMs, ...settings },
    onRecovered: (id) => recovered.push(id),
  });
  onTestFinished(async () => worker.close());
  const posted = async (name: string) => (await board.read([name])).get(name);
  return { ...storage, worker, board, leases, posted, warnings, recovered, faults };
}

/** Runs the work of the worker that is due within `ms`. */
const advance = async (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('INV-2: a turn whose server is dead is ended as lost, and all servers are notified', async () => {
  const { log, store, leases, posted, recovered } = startWorker();
  const began = Date.now();
  await store.saveSession(sessionRecord);
  await log.append('run', begun);
  await advance(leaseMs);
  expect(await store.getResponse('run')).toMatchObject({
    status: 'error',
    error: { code: 'OWNER_LOST' },
  });
  const { updatedAt = 0 } = (await store.getResponse('run')) ?? {};
  expect(updatedAt - began).toBe(3_000);
  expect(JSON.parse((await posted(`session:${sessionId}`)) ?? '')).toMatchObject({
    info: { session: { sessionId, state: 'failed' } },
    fence: 1,
  });
  expect(recovered).toEqual([sessionId]);
  expect((await leases.holders([`session:${sessionId}`])).size).toBe(0);
});

test('a turn whose server is alive continues', async () => {
  const { log, store, leases, recovered } = startWorker();
  await leases.acquire(`session:${sessionId}`, 'b', 100 * leaseMs);
  await log.append('run', begun);
  await advance(10 * leaseMs);
  expect(await store.getResponse('run')).toMatchObject({ status: 'in_progress' });
  expect(recovered).toEqual([]);
});

test('if another server takes a lost session first, the worker does not end the session’s turn', async () => {
  const { log, leases, recovered, store, warnings } = startWorker();
  vi.spyOn(leases, 'acquire').mockResolvedValue(undefined);
  await log.append('run', begun);
  await advance(leaseMs);
  expect(leases.acquire).toHaveBeenCalledWith(`session:${sessionId}`, expect.any(String), 4_000);
  expect(warnings).toEqual([]);
  expect(recovered).toEqual([]);
  expect(await store.getResponse('run')).toMatchObject({ status: 'in_progress' });
});

test('the end of a lost turn is posted as soon as posting succeeds; until then the worker holds the session', async () => {
  const { log, store, leases, posted, recovered, faults, warnings } = startWorker({
    projects: false,
  });
  await store.saveSession(sessionRecord);
  await log.append('run', begun);
  faults.postings = 3;
  await advance(4_000);
  expect(recovered).toEqual([]);
  expect((await leases.holders([`session:${sessionId}`])).size).toBe(1);
  expect(warnings).toEqual(['cluster coordination failed']);
  await advance(1_000);
  expect(recovered).toEqual([sessionId]);
  expect(await posted(`session:${sessionId}`)).toBeDefined();
});

test('if a lost session was deleted, its state is not posted', async () => {
  const { log, posted, recovered } = startWorker();
  await log.append('run', begun);
  await advance(leaseMs);
  expect(recovered).toEqual([sessionId]);
  expect(await posted(`session:${sessionId}`)).toBeUndefined();
});

test('a lost session that cannot be recovered is released, reported and tried again', async () => {
  const { log, store, leases, recovered, warnings } = startWorker();
  await log.append('run', begun);
  vi.spyOn(store, 'takeSession').mockRejectedValueOnce(new Error('The database is away.'));
  await advance(3_500);
  expect(recovered).toEqual([]);
  expect(warnings).toEqual(['cluster coordination failed']);
  expect((await leases.holders([`session:${sessionId}`])).size).toBe(0);
  await advance(leaseMs);
  expect(recovered).toEqual([sessionId]);
});

test('a worker projects a run into history, and counts the events that history lacks', async () => {
  const { log, store, worker } = startWorker();
  expect(worker.lagEvents).toBe(0);
  await log.append('run', begun);
  await advance(0);
  expect(worker.lagEvents).toBe(0);
  const said: StreamEvent[] = runOf(
    [
      begun[0].payload,
      { type: 'item_start', itemId: 'a', itemType: 'message', origin: 'agent' },
      { type: 'response_done', status: 'completed' },
    ],
    named,
  );
  await log.append('run', said.slice(1, 2));
  await advance(0);
  expect(worker.lagEvents).toBe(1);
  await log.append('run', said.slice(2));
  await advance(0);
  expect(worker.lagEvents).toBe(0);
  expect(await store.getResponse('run')).toMatchObject({ status: 'complete' });
});

test('a worker that does not project leaves runs to other workers, but still ends lost turns', async () => {
  const { log, store, worker, recovered } = startWorker({ projects: false });
  const other = { runId: 'other', turnId: 'other', sessionId: 'two' };
  await log.append('other', wholeRun(other));
  await log.append('run', begun);
  await advance(leaseMs);
  expect(recovered).toEqual([sessionId]);
  expect(await store.getResponse('other')).toBeUndefined();
  expect(worker.lagEvents).toBe(0);
});

test.each([true, false])('upserts are published if the settings say so: %s', async (publishes) => {
  const { log, coordination } = startWorker({ publishUpserts: publishes });
  await log.append('run', whole);
  await advance(0);
  const { published } = coordination.upserts as MemoryUpsertStreams;
  expect(published.get('run')?.map(({ payloadType }) => payloadType)).toEqual(
    publishes ? ['turn_event', 'turn_event'] : undefined,
  );
});

test('the settings of upserts are passed to the publisher', async () => {
  const storage = openSharedMemoryStorage();
  const publish = vi.fn<() => Promise<void>>(async () => {
    throw new Error('Redis is away.');
  });
  storage.coordination.upserts.publish = publish;
  const { log } = startWorker({ publishUpserts: true, upserts: { retryAttempts: 0 } }, storage);
  await log.append('run', begun);
  await advance(1_000);
  expect(publish).toHaveBeenCalledTimes(1);
});

test.each([true, false])('events are kept if the settings say so: %s', async (keepEvents) => {
  const { log, eventArchive: archive } = startWorker({ keepEvents });
  await log.append('run', whole);
  await advance(0);
  expect(await archive?.read('run')).toEqual(keepEvents ? whole : []);
});

test('a worker without settings waits for a quarter of a minute before a turn is lost', async () => {
  const storage = openSharedMemoryStorage();
  const warn = vi.fn<() => void>();
  const worker = startProjectorWorker({
    storage,
    logger: { info: () => {}, error: () => {}, warn },
  });
  onTestFinished(async () => worker.close());
  await storage.log.append('run', begun);
  await advance(2_999);
  expect(await storage.store.getResponse('run')).toMatchObject({ status: 'in_progress' });
  await advance(1_501);
  expect(await storage.store.getResponse('run')).toMatchObject({ status: 'error' });
  expect(warn).not.toHaveBeenCalled();
});

test('the worker’s work on a traced run is traced', async () => {
  const storage = openSharedMemoryStorage();
  const names: string[] = [];
  const worker = startProjectorWorker({
    storage,
    logger: { info: () => {}, error: () => {}, warn: () => {} },
    tracing: {
      captureContent: false,
      samples: () => true,
      add: (spans) => void names.push(...spans.map(({ name }) => name)),
    },
  });
  onTestFinished(async () => worker.close());
  await storage.log.append('run', whole);
  await advance(0);
  expect(names).toContain('projector');
});

test('a closed worker ends no turn and projects no run', async () => {
  const { log, store, worker, recovered } = startWorker();
  await worker.close();
  await log.append('run', begun);
  await advance(10 * leaseMs);
  expect(recovered).toEqual([]);
  expect(await store.getResponse('run')).toBeUndefined();
});

test('closing does not wait for a posting that keeps failing', async () => {
  const { log, store, worker, faults, recovered } = startWorker({ projects: false });
  await store.saveSession(sessionRecord);
  await log.append('run', begun);
  faults.postings = Number.POSITIVE_INFINITY;
  await advance(leaseMs);
  expect(recovered).toEqual([]);
  await worker.close();
  expect(recovered).toEqual([sessionId]);
});
