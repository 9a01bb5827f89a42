import { tmpdir } from 'node:os';
import { ProviderRegistry } from '@liminal/agents';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRuntime } from '../create-runtime.ts';
import { SessionRuntime } from '../runtime.ts';
import { sessionRecord } from './testing/session-record.ts';

const { sessionId } = sessionRecord;

/** A server of a cluster; `own` is its runtime for the sessions that it owns. */
async function openServer() {
  const storage = openSharedMemoryStorage();
  const warnings: string[] = [];
  const runtime = await createRuntime({
    storage,
    providers: new ProviderRegistry(),
    roots: [tmpdir()],
    logger: { info: () => {}, error: () => {}, warn: (_, text) => void warnings.push(text) },
  });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await runtime.close();
    await storage.close();
  });
  const { board, leases } = storage.coordination;
  return { runtime, board, leases, store: storage.store, own: SessionRuntime.prototype, warnings };
}

test.each([
  'listAgents',
  'exportSession',
  'findSessions',
  'listProjects',
  'listSessions',
  'findFiles',
  'listGrants',
  'removeGrant',
  'putBlob',
  'getBlob',
  'search',
  'getRun',
  'followRun',
] as const)('every server answers %s by itself', async (name) => {
  const { runtime, own } = await openServer();
  const answer = {};
  const asked = vi.spyOn(own, name).mockResolvedValue(answer as never);
  const ask = runtime[name] as (...args: unknown[]) => Promise<unknown>;
  expect(await ask('one', 2)).toBe(answer);
  expect(asked.mock.calls).toEqual([['one', 2]]);
});

test('troubles, attached clients and session list listeners are the server’s own, not the cluster’s', async () => {
  const { runtime, own } = await openServer();
  vi.spyOn(own, 'troubles').mockResolvedValue(['The disk is full.']);
  expect(await runtime.troubles()).toEqual(['The disk is full.']);
  const [detach, leave] = [() => {}, () => {}];
  const attach = vi.spyOn(own, 'attach').mockReturnValue(detach);
  const client = { startedTurn: () => false };
  expect(runtime.attach(sessionId, client)).toBe(detach);
  expect(attach).toHaveBeenCalledWith(sessionId, client);
  const watch = vi.spyOn(own, 'subscribeToSessionList').mockReturnValue(leave);
  const listener = () => {};
  expect(runtime.subscribeToSessionList(listener)).toBe(leave);
  expect(watch).toHaveBeenCalledWith(listener);
});

test('every server reads files and folders of projects', async () => {
  const { runtime } = await openServer();
  expect(await runtime.listFolders(`${tmpdir()}/none-`)).toBeDefined();
  const reading = runtime.readFile('none', 'a.txt');
  await expect(reading).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});

test('a server reports the lag of its projector, and the readers of followed sessions', async () => {
  const { runtime, store } = await openServer();
  expect(await runtime.metrics()).toMatchObject({ lagEvents: 0 });
  await store.saveSession(sessionRecord);
  expect(await runtime.gauges()).toMatchObject({ subscribers: 0, slowSubscribers: 0 });
  const subscriptions = [1, 2].map(() => runtime.subscribe(sessionId, {}, { send: () => true }));
  await expect.poll(async () => (await runtime.gauges()).subscribers).toBe(2);
  for (const subscription of subscriptions) subscription.close();
});

test('an imported session is posted to all servers; a session that was imported before is not', async () => {
  const { runtime, board, store, own } = await openServer();
  await store.saveSession(sessionRecord);
  const imported = vi.spyOn(own, 'importSession');
  const file = (async function* empty() {})();
  imported.mockResolvedValue({ sessionId, wasThere: true } as never);
  await runtime.importSession(file);
  expect((await board.read([`session:${sessionId}`])).size).toBe(0);
  imported.mockResolvedValue({ sessionId, wasThere: false } as never);
  expect(await runtime.importSession(file)).toMatchObject({ sessionId });
  const posted = (await board.read([`session:${sessionId}`])).get(`session:${sessionId}`);
  expect(JSON.parse(posted ?? '')).toMatchObject({ info: { session: { sessionId } } });
});

test('a session’s status has its agent, its state, and whether its queue is paused', async () => {
  const { runtime, store } = await openServer();
  await store.saveSession(sessionRecord);
  const status = { sessionId, cliType: 'demo', isAlive: false, state: 'idle' };
  expect(await runtime.status(sessionId)).toEqual(status);
  const waiting = { turnId: 'turn', message: 'Hi', queuedAt: sessionRecord.createdAt };
  const queue = [{ ...waiting, state: 'queued' as const }];
  await store.saveSession({ ...sessionRecord, queue, queuePaused: true });
  expect(await runtime.status(sessionId)).toEqual({
    ...status,
    state: 'queued',
    queuePaused: true,
  });
});

test('a session that another server deletes is dropped here', async () => {
  const { board, own, warnings } = await openServer();
  const drop = vi.spyOn(own, 'dropDeleted').mockRejectedValueOnce(new Error('Memory is away.'));
  await board.post(`deleted:${sessionId}`, '', 1_000);
  expect(drop).toHaveBeenCalledWith(sessionId);
  await expect.poll(() => warnings).toEqual(['cluster coordination failed']);
});

test('a new session whose id another server has is not created', async () => {
  const { runtime, leases, own } = await openServer();
  const create = vi.spyOn(own, 'createSession');
  vi.spyOn(leases, 'acquire').mockResolvedValue(undefined);
  const creating = runtime.createSession({ cliType: 'demo', projectDir: tmpdir() });
  await expect(creating).rejects.toThrow(
    'Another server owns the id of the session that is being created.',
  );
  expect(create).not.toHaveBeenCalled();
});
