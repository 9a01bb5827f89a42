import { tmpdir } from 'node:os';
import { DriverRegistry } from '@liminal/agents';
import { DemoDriver } from '@liminal/agents/demo';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRuntime } from '../create-runtime.ts';
import { SessionRuntime } from '../runtime.ts';
import { sessionRecord } from './testing/session-record.ts';

const { sessionId } = sessionRecord;

/** A server of a cluster; `own` is its runtime for the sessions that it owns. */
async function openServer(storage = openSharedMemoryStorage()) {
  const warnings: string[] = [];
  const drivers = new DriverRegistry();
  drivers.register(new DemoDriver({ speed: 500 }));
  const runtime = await createRuntime({
    storage,
    drivers,
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
  'diff',
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

test('servers do not share problems, attached clients and listeners of the session list', async () => {
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

test('a server reports the lag of its projector, and the number of readers of the sessions that it follows', async () => {
  const { runtime, store } = await openServer();
  expect(await runtime.metrics()).toMatchObject({ lagEvents: 0 });
  await store.saveSession(sessionRecord);
  expect(await runtime.gauges()).toMatchObject({ subscribers: 0, slowSubscribers: 0 });
  const subscriptions = [1, 2].map(() => runtime.subscribe(sessionId, {}, { send: () => true }));
  await expect.poll(async () => (await runtime.gauges()).subscribers).toBe(2);
  for (const subscription of subscriptions) subscription.close();
});

test('an imported session is posted to all servers, but a session that was imported before is not posted again', async () => {
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

test('the status of a session contains its agent, its state, and whether its queue is paused', async () => {
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

test('if another server deletes a session, this server removes the session from memory', async () => {
  const { board, own, warnings } = await openServer();
  const drop = vi.spyOn(own, 'dropDeleted').mockRejectedValueOnce(new Error('Memory is away.'));
  await board.post(`deleted:${sessionId}`, '', 1_000);
  expect(drop).toHaveBeenCalledWith(sessionId);
  await expect.poll(() => warnings).toEqual(['cluster coordination failed']);
});

test('a new session is not created if another server has a session with its id', async () => {
  const { runtime, leases, own } = await openServer();
  const create = vi.spyOn(own, 'createSession');
  vi.spyOn(leases, 'acquire').mockResolvedValue(undefined);
  const creating = runtime.createSession({ cliType: 'demo', projectDir: tmpdir() });
  await expect(creating).rejects.toThrow(
    'Another server owns the id of the session that is being created.',
  );
  expect(create).not.toHaveBeenCalled();
});

test('a server that may have missed postings sends the whole list of sessions again, and retries until that succeeds', async () => {
  const storage = openSharedMemoryStorage();
  const { board } = storage.coordination;
  const gaps: (() => void)[] = [];
  const watch = board.watch.bind(board);
  vi.spyOn(board, 'watch').mockImplementation(async (prefix, listener) => {
    gaps.push(listener.onGap);
    return watch(prefix, listener);
  });
  const { own, warnings } = await openServer(storage);
  const publishAll = vi
    .spyOn(own, 'publishAllSessions')
    .mockRejectedValueOnce(new Error('The store is away.'));
  for (const gap of gaps) gap();
  await expect
    .poll(() => publishAll.mock.settledResults.map(({ type }) => type))
    .toEqual(['rejected', 'fulfilled']);
  expect(warnings).toEqual(['cluster coordination failed']);
});

test('a session that its owner posts is listed on the other servers, and is not published again on its owner', async () => {
  const storage = openSharedMemoryStorage();
  const [one, other] = [await openServer(storage), await openServer(storage)];
  const troubles = vi.spyOn(other.own, 'troubles').mockResolvedValue([]);
  await other.runtime.troubles();
  const publish = vi.spyOn(one.own, 'publishSessions');
  const created = await one.runtime.createSession({ cliType: 'demo', projectDir: tmpdir() });
  await expect.poll(() => publish.mock.calls.length).toBeGreaterThan(0);
  for (const runtime of publish.mock.contexts) expect(runtime).toBe(troubles.mock.contexts[0]);
  expect(publish.mock.calls[0]).toMatchObject([
    [{ sessionId: created.sessionId, cliType: 'demo' }],
  ]);
  expect(await other.runtime.status(created.sessionId)).toMatchObject({ cliType: 'demo' });
});

test('a closed server gets no commands and no postings, and has released its sessions', async () => {
  const storage = openSharedMemoryStorage();
  const { inboxes, board, leases } = storage.coordination;
  const open = vi.spyOn(inboxes, 'open');
  const { runtime, own } = await openServer(storage);
  const [inbox = ''] = open.mock.calls.map(([name]) => name);
  const session = await runtime.createSession({ cliType: 'demo', projectDir: tmpdir() });
  expect(await inboxes.send(inbox, '{}')).toBe(true);
  const name = `session:${session.sessionId}`;
  expect((await leases.holders([name])).size).toBe(1);
  await runtime.close();
  expect(await inboxes.send(inbox, '{}')).toBe(false);
  expect((await leases.holders([name])).size).toBe(0);
  const drop = vi.spyOn(own, 'dropDeleted');
  await board.post(`deleted:${session.sessionId}`, '', 1_000);
  expect(drop).not.toHaveBeenCalled();
});

test('a server that finishes waits for its own turns, until they end or the server must hurry', async () => {
  const { runtime, own } = await openServer();
  const finished = vi.spyOn(own, 'finish').mockResolvedValue();
  const hurry = new AbortController().signal;
  await runtime.finish(hurry);
  expect(finished).toHaveBeenCalledWith(hurry);
});

test('a page of a session’s history has at most the requested number of entries, and afterwards the session is no longer followed', async () => {
  const { runtime, store } = await openServer();
  await store.saveSession(sessionRecord);
  expect(await runtime.history(sessionId)).toMatchObject({ turns: [], hasMore: false });
  expect(await runtime.gauges()).toMatchObject({ subscribers: 0 });
  await expect(runtime.history('none')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});

test('a slow subscriber is counted on the server to which it is connected', async () => {
  const { runtime, store } = await openServer();
  await store.saveSession(sessionRecord);
  const fast = runtime.subscribe(sessionId, {}, { send: () => true });
  const slow = runtime.subscribe(sessionId, {}, { send: () => false });
  await expect.poll(async () => (await runtime.gauges()).slowSubscribers).toBe(1);
  expect(await runtime.gauges()).toMatchObject({ subscribers: 2 });
  for (const subscription of [fast, slow]) subscription.close();
});

test('a server that forwards a message to the owner first replaces the message’s bytes with references', async () => {
  const storage = openSharedMemoryStorage();
  const [one, other] = [await openServer(storage), await openServer(storage)];
  const session = await one.runtime.createSession({ cliType: 'demo', projectDir: tmpdir() });
  const sent = vi.spyOn(storage.coordination.inboxes, 'send');
  const data = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
  const blocks = [{ type: 'image' as const, data, mimeType: 'image/png' }];
  const { turnId } = await other.runtime.send(session.sessionId, 'Look.', undefined, { blocks });
  const asked = sent.mock.calls.map(([, text]) => text).find((text) => text.includes('"ask"'));
  expect(JSON.parse(asked ?? '')).toMatchObject({
    question: { command: 'send', sessionId: session.sessionId, args: ['Look.', turnId, {}] },
  });
  expect(asked).toContain('"mimeType":"image/png"');
  expect(asked).not.toContain(data);
  await expect
    .poll(async () => JSON.stringify(await other.runtime.history(session.sessionId)))
    .toContain('"mimeType":"image/png"');
});

test('a repeated request of another server for a fork creates only one new session', async () => {
  const storage = openSharedMemoryStorage();
  const [one, other] = [await openServer(storage), await openServer(storage)];
  const { sessionId: original } = await one.runtime.createSession({
    cliType: 'demo',
    projectDir: tmpdir(),
  });
  await one.runtime.send(original, 'explain');
  await expect
    .poll(async () => (await other.runtime.history(original)).turns)
    .toMatchObject([{ status: 'complete' }]);
  const forkId = '00000000-0000-4000-8000-000000000001';
  const fork = async () => other.runtime.fork(original, { sessionId: forkId });
  expect([await fork(), await fork()]).toMatchObject([
    { sessionId: forkId },
    { sessionId: forkId },
  ]);
  const unnamed = await other.runtime.fork(original);
  expect(new Set([original, forkId, unnamed.sessionId]).size).toBe(3);
  expect(await one.runtime.status(unnamed.sessionId)).toMatchObject({ cliType: 'demo' });
});
