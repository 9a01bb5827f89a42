/** Archiving, pinning and deleting sessions, on several servers. */
import type { SessionSummary } from '@liminal/protocol';
import { onTestFinished, expect, test } from 'vitest';
import type { RuntimeSettings } from '../../src/index.ts';
import { Reader } from '../reader.ts';
import { longLease, startServers, type Server } from './servers.ts';

interface ListReader {
  /** The sessions in a reader's list. */
  sessions: Map<string, SessionSummary>;
  removed: string[];
}

function readList({ runtime }: Server): ListReader {
  const sessions = new Map<string, SessionSummary>();
  const removed: string[] = [];
  const stop = runtime.subscribeToSessionList((change) => {
    for (const session of change.sessions) sessions.set(session.sessionId, session);
    for (const id of change.removed) sessions.delete(id);
    removed.push(...change.removed);
  });
  onTestFinished(stop);
  return { sessions, removed };
}

async function startThree(settings: Partial<RuntimeSettings> = {}) {
  const servers = await startServers();
  const start = async () => servers.start(settings);
  const [a, b, c] = [await start(), await start(), await start()];
  const { sessionId } = await a.runtime.createSession({
    cliType: 'scripted',
    projectDir: servers.projectDir,
  });
  return { servers, a, b, c, sessionId };
}

const notFound = { code: 'SESSION_NOT_FOUND' };

test('archiving and pinning on one server is shown on every server, with and without an owner', async () => {
  const { a, b, c, sessionId } = await startThree(longLease);
  const lists = [a, b, c].map(readList);
  const marks = () =>
    lists.map(({ sessions }) => {
      const { archived, pinned } = sessions.get(sessionId) ?? {};
      return { archived, pinned };
    });
  await b.runtime.archive(sessionId);
  await c.runtime.pin(sessionId);
  await expect.poll(marks).toEqual(Array(3).fill({ archived: true, pinned: true }));
  // After `kill` the session has no owner, so any server may run the next command.
  await a.runtime.kill(sessionId);
  await c.runtime.unpin(sessionId);
  await expect.poll(marks).toEqual(Array(3).fill({ archived: true, pinned: undefined }));
  await b.runtime.send(sessionId, 'Back');
  await expect.poll(marks).toEqual(Array(3).fill({ archived: undefined, pinned: undefined }));
});

test('a session that one server deletes ends on the server that owns it, and disappears on every server', async () => {
  const { servers, a, b, c, sessionId } = await startThree(longLease);
  const lists = [a, b, c].map(readList);
  const readers = [a, b, c].map(({ runtime }) => new Reader(runtime, sessionId));
  const { turnId } = await b.runtime.send(sessionId, 'Work');
  await b.runtime.send(sessionId, 'and more');
  for (const reader of readers) await reader.until(({ items }) => items.size > 0);

  await c.runtime.deleteSession(sessionId);

  expect(a.agent.alive.size).toBe(0);
  for (const reader of readers) {
    await reader.untilType('session:deleted');
    expect(reader.messages.at(-1)).toEqual({ type: 'session:deleted', sessionId });
  }
  for (const list of lists) {
    await expect.poll(() => list.removed).toContain(sessionId);
    expect([...list.sessions]).toEqual([]);
  }
  for (const { runtime } of [a, b, c]) {
    await runtime.deleteSession(sessionId);
    await expect(runtime.info(sessionId)).rejects.toMatchObject(notFound);
    await expect(runtime.history(sessionId)).rejects.toMatchObject(notFound);
    await expect(runtime.send(sessionId, 'Hello?')).rejects.toMatchObject(notFound);
    await expect(runtime.getRun(turnId)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(await runtime.listProjects()).toEqual([]);
    expect(await runtime.metrics()).toMatchObject({ openRuns: 0 });
  }
  await expect.poll(async () => (await a.runtime.metrics()).backlogRuns).toBe(0);
  expect(await servers.store.listRuns(sessionId)).toEqual([]);
  expect([a, b, c].flatMap(({ warnings }) => warnings)).toEqual([]);
});

test('if the owner dies while it is asked to delete, the next owner deletes the session', async () => {
  const { a, b, sessionId } = await startThree();
  await a.runtime.send(sessionId, 'Work');
  const release = a.holdRecords();
  const deleting = b.runtime.deleteSession(sessionId);
  a.kill();
  release();
  await deleting;
  expect(await b.runtime.listProjects()).toEqual([]);
  await expect(b.runtime.info(sessionId)).rejects.toMatchObject(notFound);
});

test('an owner that was cut off during the deletion restores nothing, and ends its agent when it is notified', async () => {
  const { servers, a, b, sessionId } = await startThree();
  const { turnId } = await a.runtime.send(sessionId, 'Work');
  a.agent.text(sessionId, 'before', 'Said before.');
  const join = a.isolate();
  await expect
    .poll(async () => servers.leases.holders([`session:${sessionId}`]), { timeout: 10_000 })
    .toEqual(new Map());
  await b.runtime.deleteSession(sessionId);
  await expect.poll(() => a.agent.alive.size).toBe(0);
  join();
  await expect(a.runtime.send(sessionId, 'Hello?')).rejects.toMatchObject(notFound);
  await expect.poll(async () => (await a.runtime.metrics()).openRuns).toBe(0);
  expect(await servers.store.getSession(sessionId)).toBeUndefined();
  expect(await servers.store.getResponse(turnId)).toBeUndefined();
  expect(await a.runtime.listProjects()).toEqual([]);
});

test('a server that was cut off when a session was deleted notifies its readers when it is back', async () => {
  const { servers, a, b, sessionId } = await startThree();
  const { projectDir } = servers;
  const listed = await a.runtime.createSession({ cliType: 'scripted', projectDir });
  const list = readList(b);
  const reader = await new Reader(b.runtime, sessionId).untilType('session:info');
  await expect.poll(() => list.sessions.size).toBe(2);
  const join = b.missPostings();
  for (const id of [sessionId, listed.sessionId]) await a.runtime.deleteSession(id);
  expect(list.removed).toEqual([]);
  join();
  await reader.untilType('session:deleted');
  await expect.poll(() => [...list.sessions.keys()]).toEqual([]);
});
