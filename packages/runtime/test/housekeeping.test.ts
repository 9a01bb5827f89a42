/** Archiving, pinning and deleting sessions, on one server. */
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '@liminal/storage';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openMedium } from './medium.ts';
import { Reader, startWorld, type World } from './harness.ts';

let world: World;

beforeEach(async () => {
  world = await startWorld({}, { medium: openMedium('sqlite') });
});
afterEach(async () => world.end());

async function create(): Promise<string> {
  const { projectDir, runtime } = world;
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  return sessionId;
}

/** Begins a turn, and resolves when the turn is shown. */
async function begin(sessionId: string, message = 'Hello quokka'): Promise<string> {
  const { turnId } = await world.runtime.send(sessionId, message);
  const reader = new Reader(world.runtime, sessionId);
  await reader.until(({ items }) => items.size > 0);
  reader.close();
  return turnId;
}

async function runTurn(sessionId: string, message?: string): Promise<string> {
  const turnId = await begin(sessionId, message);
  world.agent.finish(sessionId);
  await expect
    .poll(async () => world.storage.store.getResponse(turnId))
    .toMatchObject({ status: 'complete' });
  await expect.poll(async () => (await world.runtime.info(sessionId)).session.state).toBe('idle');
  return turnId;
}

async function listed(): Promise<{ sessionId: string; archived?: true; pinned?: true }[]> {
  const projects = await world.runtime.listProjects();
  return projects.flatMap(({ sessions }) =>
    sessions.map(({ sessionId, archived, pinned }) => ({
      sessionId,
      ...(archived && { archived }),
      ...(pinned && { pinned }),
    })),
  );
}

/** A session in the agent's own store, with one turn. */
function keepInStore(sessionId: string, projectDir = world.projectDir): void {
  const times = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-02T00:00:00.000Z' };
  world.agent.stored = [{ sessionId, projectDir, title: 'Elsewhere', ...times }];
  const timestamp = times.updatedAt;
  const item = { id: 'a', type: 'message', origin: 'agent', content: 'From the terminal' } as const;
  const payloads = [
    { type: 'response_start', modelId: 'm', providerId: 'scripted', trigger: 'user' },
    { type: 'item_start', itemId: 'a', itemType: 'message', origin: 'agent' },
    { type: 'item_done', itemId: 'a', finalItem: item },
    { type: 'response_done', status: 'completed', finishReason: null },
  ] as const;
  const events = payloads.map((payload) => ({ turnId: 'stored-1', timestamp, payload }));
  world.agent.storedTurns = [{ turnId: 'stored-1', events }];
}

const notFound = { code: 'SESSION_NOT_FOUND' };

describe('archiving and pinning', () => {
  test('are sent to subscribers of the list and of the session, and survive a restart', async () => {
    const sessionId = await create();
    const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
    const told: object[] = [];
    const stop = world.runtime.subscribeToSessionList(({ sessions }) => told.push(...sessions));
    const { updatedAt } = (await world.runtime.info(sessionId)).session;
    await world.runtime.archive(sessionId);
    await world.runtime.pin(sessionId);
    await world.runtime.pin(sessionId);
    await expect
      .poll(() => told.at(-1))
      .toMatchObject({ sessionId, archived: true, pinned: true, updatedAt });
    await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.pinned === true);
    stop();
    reader.close();

    world = await world.restart();
    expect(await listed()).toEqual([{ sessionId, archived: true, pinned: true }]);
    await world.runtime.unarchive(sessionId);
    await world.runtime.unpin(sessionId);
    expect(await listed()).toEqual([{ sessionId }]);
    world = await world.restart();
    expect(await listed()).toEqual([{ sessionId }]);
  });

  test('an archived session is restored by a message; a running turn continues', async () => {
    const sessionId = await create();
    await begin(sessionId);
    await world.runtime.archive(sessionId);
    expect(world.agent.alive.has(sessionId)).toBe(true);
    expect((await world.runtime.info(sessionId)).session).toMatchObject({
      state: 'running',
      archived: true,
    });
    world.agent.finish(sessionId);
    await expect.poll(async () => (await world.runtime.info(sessionId)).session.state).toBe('idle');
    expect(await listed()).toMatchObject([{ archived: true }]);
    await runTurn(sessionId, 'Again');
    expect(await listed()).toEqual([{ sessionId }]);
  });

  test('a change that cannot be stored is rejected, and is not shown', async () => {
    const sessionId = await create();
    const error = new StorageError('STORE_WRITE_FAILED', 'The disk is full.');
    vi.spyOn(world.storage.store, 'saveSession').mockRejectedValueOnce(error);
    await expect(world.runtime.archive(sessionId)).rejects.toBe(error);
    expect((await world.runtime.info(sessionId)).session.archived).toBeUndefined();
  });

  test('a session of the agent’s own store is stored without its history, which is read when the session is opened', async () => {
    keepInStore('made-elsewhere');
    await world.runtime.archive('made-elsewhere');
    await world.runtime.pin('made-elsewhere');
    const [session] = (await world.runtime.listProjects()).flatMap(({ sessions }) => sessions);
    expect(session).toMatchObject({
      sessionId: 'made-elsewhere',
      title: 'Elsewhere',
      updatedAt: '2026-01-02T00:00:00.000Z',
      archived: true,
      pinned: true,
      active: false,
    });
    expect(await world.storage.store.listRuns('made-elsewhere')).toEqual([]);
    const reader = await new Reader(world.runtime, 'made-elsewhere').untilType('session:info');
    await world.runtime.loadSession('made-elsewhere');
    await reader.until(({ items }) => items.has('a'));
    await world.runtime.loadSession('made-elsewhere');
    expect(await world.storage.store.listRuns('made-elsewhere')).toHaveLength(1);
    reader.close();
  });

  test('a message to a session of the agent’s own store is stored after the session’s history', async () => {
    keepInStore('made-elsewhere');
    await world.runtime.pin('made-elsewhere');
    const turnId = await runTurn('made-elsewhere');
    const runs = await world.storage.store.listRuns('made-elsewhere');
    expect(runs?.map(({ id }) => id)).toEqual(['stored-1', turnId]);
  });

  test('a session of the agent’s own store can be marked without its project folder; an unknown session is rejected', async () => {
    const gone = join(world.projectDir, 'gone');
    await mkdir(gone);
    keepInStore('made-elsewhere', gone);
    await rm(gone, { recursive: true });
    await world.runtime.archive('made-elsewhere');
    expect(await listed()).toEqual([{ sessionId: 'made-elsewhere', archived: true }]);
    for (const command of ['archive', 'unarchive', 'pin', 'unpin', 'deleteSession'] as const) {
      await expect(world.runtime[command]('nobody')).rejects.toMatchObject(notFound);
    }
  });
});

describe('deleting', () => {
  test('ends the agent and its turn, and removes events, runs, queue, texts and bytes', async () => {
    const [sessionId, other] = [await create(), await create()];
    const png = (text: string) => Buffer.from(`\x89PNG\r\n\x1a\n${text}`, 'latin1');
    const bytes = png('own');
    const hash = createHash('sha256').update(bytes).digest('hex');
    const data = bytes.toString('base64');
    const image = { type: 'image', mimeType: 'image/png', data } as const;
    const shared = { ...image, data: png('shared').toString('base64') };
    const first = await runTurn(sessionId);
    await runTurn(other, 'Hello wombat');
    await world.runtime.send(other, '', undefined, { blocks: [shared] });
    const running = await begin(sessionId);
    await world.runtime.send(sessionId, 'queued', undefined, { blocks: [image, shared] });
    const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
    const removed: string[] = [];
    const stop = world.runtime.subscribeToSessionList((change) => removed.push(...change.removed));

    await world.runtime.deleteSession(sessionId);

    expect(reader.messages.at(-1)).toEqual({ type: 'session:deleted', sessionId });
    expect(removed).toEqual([sessionId]);
    expect(world.agent.alive.has(sessionId)).toBe(false);
    expect(world.agent.received).not.toContain('queued');
    expect(await listed()).toEqual([{ sessionId: other }]);
    for (const runId of [first, running]) {
      await expect(world.runtime.getRun(runId)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
      expect(await world.storage.log.read(runId)).toEqual([]);
    }
    expect((await world.runtime.search('quokka', { limit: 9 })).hits).toEqual([]);
    expect((await world.runtime.search('wombat', { limit: 9 })).hits).toHaveLength(2);
    await expect(world.runtime.getBlob(hash)).rejects.toMatchObject({ code: 'BLOB_NOT_FOUND' });
    const kept = createHash('sha256').update(png('shared')).digest('hex');
    expect(await world.runtime.getBlob(kept)).toMatchObject({ size: png('shared').length });
    stop();
  });

  test('is final: later requests for the session are rejected, and deleting again does nothing', async () => {
    const sessionId = await create();
    await runTurn(sessionId);
    await Promise.all([
      world.runtime.deleteSession(sessionId),
      world.runtime.deleteSession(sessionId),
    ]);
    for (let server = 0; server < 2; server++) {
      const { runtime } = world;
      await runtime.deleteSession(sessionId);
      await expect(runtime.send(sessionId, 'Hello?')).rejects.toMatchObject(notFound);
      await expect(runtime.loadSession(sessionId)).rejects.toMatchObject(notFound);
      await expect(runtime.unarchive(sessionId)).rejects.toMatchObject(notFound);
      await expect(runtime.history(sessionId)).rejects.toMatchObject(notFound);
      const late = await new Reader(runtime, sessionId).untilType('session:error');
      expect(late.messages).toMatchObject([{ type: 'session:error', ...notFound }]);
      expect(await listed()).toEqual([]);
      world = await world.restart();
    }
    expect(world.warnings).toEqual([]);
  });

  test('a deleted session whose transcript the agent keeps is not listed again, and cannot be loaded', async () => {
    keepInStore('made-elsewhere');
    await world.runtime.loadSession('made-elsewhere');
    const own = await create();
    await runTurn(own);
    world.agent.update(own, { agentSessionId: 'own-before-clear' });
    world.agent.update(own, { agentSessionId: 'own-of-agent' });
    await runTurn(own);
    const [stored] = world.agent.stored;
    world.agent.stored.push({ ...stored!, sessionId: 'own-before-clear' });
    world.agent.stored.push({ ...stored!, sessionId: 'own-of-agent' });
    world.agent.stored.push({ ...stored!, sessionId: 'never-opened' });
    for (const id of ['made-elsewhere', own, 'never-opened']) {
      await world.runtime.deleteSession(id);
    }
    const all = world.agent.stored;
    for (let server = 0; server < 2; server++) {
      world.agent.stored = all;
      expect(await listed()).toEqual([]);
      const told: string[] = [];
      const stop = world.runtime.subscribeToSessionList(({ sessions }) =>
        told.push(...sessions.map(({ sessionId }) => sessionId)),
      );
      expect(await world.runtime.findSessions('scripted')).toEqual([]);
      stop();
      expect(told).toEqual([]);
      const read = vi.fn<() => []>(() => []);
      Object.defineProperty(world.agent, 'storedTurns', { get: read });
      for (const { sessionId } of all) {
        await expect(world.runtime.loadSession(sessionId)).rejects.toMatchObject(notFound);
        await expect(world.runtime.pin(sessionId)).rejects.toMatchObject(notFound);
      }
      expect(read).not.toHaveBeenCalled();
      world = await world.restart();
    }
  });

  test('a session that the agent stored under several ids is listed only once', async () => {
    keepInStore('elsewhere');
    const own = await create();
    await runTurn(own);
    const earlier = ['plan-1', 'plan-2', 'present'];
    for (const agentSessionId of [...earlier, 'present'])
      world.agent.update(own, { agentSessionId });
    await runTurn(own);
    const [stored] = world.agent.stored;
    world.agent.stored = [...earlier, 'elsewhere'].map((sessionId) => ({ ...stored!, sessionId }));
    const { stored: all } = world.agent;
    for (let server = 0; server < 2; server++) {
      world.agent.stored = all;
      const found = await world.runtime.findSessions('scripted');
      expect(found.map(({ sessionId }) => sessionId)).toEqual(['elsewhere']);
      world = await world.restart();
    }
  });

  test('a message that is being sent while its session is deleted starts no agent', async () => {
    const sessionId = await create();
    await runTurn(sessionId);
    await world.runtime.kill(sessionId);
    const held = Promise.withResolvers<void>();
    world.agent.hold = held.promise;
    const sending = world.runtime.send(sessionId, 'Too late').catch((error: unknown) => error);
    await expect.poll(() => world.agent.alive.has(sessionId)).toBe(true);
    const deleting = world.runtime.deleteSession(sessionId);
    const refused = await world.runtime.send(sessionId, 'Later').catch((error: unknown) => error);
    expect(refused).toMatchObject(notFound);
    held.resolve();
    await Promise.all([deleting, sending]);
    await expect.poll(() => world.agent.alive.has(sessionId)).toBe(false);
    expect(await world.storage.log.unsettled()).toEqual([]);
    expect(await listed()).toEqual([]);
  });

  test('if the store rejects it, leaves the session complete, without its agent, and can be repeated', async () => {
    const sessionId = await create();
    await runTurn(sessionId);
    const error = new StorageError('STORE_WRITE_FAILED', 'The disk is full.');
    vi.spyOn(world.storage.store, 'deleteSession').mockRejectedValueOnce(error);
    await expect(world.runtime.deleteSession(sessionId)).rejects.toBe(error);
    expect(world.agent.alive.has(sessionId)).toBe(false);
    await runTurn(sessionId, 'Still here');
    expect((await world.runtime.history(sessionId)).entries).toHaveLength(2);
    await world.runtime.deleteSession(sessionId);
    expect(await listed()).toEqual([]);
  });

  test.each(['before the store has deleted it', 'before the log has forgotten its runs'])(
    'SAFE: a crash %s leaves the complete session, or nothing of it, after the next start',
    async (when) => {
      const sessionId = await create();
      const first = await runTurn(sessionId);
      const running = await begin(sessionId);
      const reached = Promise.withResolvers<void>();
      const stuck = async (): Promise<never> => {
        reached.resolve();
        return new Promise(() => {});
      };
      const isDeleted = when.includes('runs');
      if (isDeleted) {
        vi.spyOn(world.storage.log, 'settle').mockImplementation(stuck);
        vi.spyOn(world.storage.log, 'append').mockImplementation(async () => new Promise(() => {}));
      } else vi.spyOn(world.storage.store, 'deleteSession').mockImplementation(stuck);
      void world.runtime.deleteSession(sessionId);
      await reached.promise;
      world = await world.restart();
      expect(await listed()).toEqual(isDeleted ? [] : [{ sessionId }]);
      expect(await world.storage.log.unsettled()).toEqual([]);
      for (const runId of [first, running]) {
        expect((await world.storage.store.getResponse(runId)) === undefined).toBe(isDeleted);
        expect(await world.storage.log.read(runId)).toEqual([]);
      }
      await world.runtime.deleteSession(sessionId);
      expect(await listed()).toEqual([]);
    },
  );
});
