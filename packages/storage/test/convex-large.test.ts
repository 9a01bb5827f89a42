import { partOf, testAtLength } from '@liminal/testkit/at-length';
import { describe, expect, test } from 'vitest';
import { openDeployment } from '../src/convex/open.ts';
import { headOf, response, sessionRecord } from '../src/testing/records.ts';
import { deploy, secret, watched } from './convex-deployment.ts';

/** Patience for background work of the deployment. */
const patience = { timeout: 60_000 };

describe('data larger than one call', () => {
  // Long words, because an index is slow with very many words.
  const bigText = (at: number) => `${at} ${`${'größer'.repeat(40)} `.repeat(1_120)}`;
  const big = (id: string, fields = {}, count = 24) =>
    response(
      id,
      Array.from({ length: count }, (_, at) => bigText(at)),
      fields,
    );

  test('is saved and returned whole, as are its pages', async () => {
    const { caller, count, tidied } = deploy();
    const { store } = await openDeployment(caller, secret);
    // The run is larger than one call may read.
    const huge = big('run-2', {}, 30);
    await store.importResponses([response('run-1', ['a']), huge, response('run-3', ['b'])]);
    expect(await store.getResponse('run-2')).toStrictEqual(huge);
    expect((await store.listRuns('session-1'))?.map(({ id }) => id)).toEqual([
      'run-1',
      'run-2',
      'run-3',
    ]);
    const page = await store.readItems('session-1', { limit: 20 });
    expect(page.items).toHaveLength(20);
    expect(page.items[18]).toStrictEqual({
      runId: 'run-2',
      index: 29,
      item: huge.outputItems[29],
    });
    const items = await count('items');
    await store.saveResponse({ ...huge, lastSeq: 99 });
    await expect.poll(async () => count('writes'), patience).toBe(0);
    expect(await count('items')).toBe(items);
    await tidied();
  });

  test('SAFE: a page reads about as much as it returns, not all items', async () => {
    const { calls, caller } = watched(deploy().caller);
    const { store } = await openDeployment(caller, secret);
    await store.saveResponse(big('run-1', {}, 30));
    calls.length = 0;
    const mebibyte = 1_048_576;
    const page = await store.readItems('session-1', { limit: 200, size: mebibyte });
    // Each item has about 360 kB.
    expect(page.items.map(({ index }) => index)).toEqual([28, 29]);
    expect(calls.map(({ name }) => name)).toEqual(['history:page', 'history:items']);
    expect(
      (await store.readItems('session-1', { limit: 200, size: 8 * mebibyte })).items,
    ).toHaveLength(23);
  });

  test('is saved as a whole or not at all, if any call fails', async () => {
    const { caller, count, tidied } = deploy();
    const { watch, caller: breaking } = watched(caller);
    const { store } = await openDeployment(breaking, secret);
    const saved = response('run-1', ['a', 'b'], { status: 'in_progress' });
    await store.saveResponse(saved);
    for (const failAt of [0, 1, 3, 4]) {
      let left = failAt;
      watch.before = () => {
        if (left-- === 0) throw new Error('The line is cut.');
      };
      await expect(store.saveResponse(big('run-1', { lastSeq: 99 }))).rejects.toMatchObject({
        code: 'STORE_WRITE_FAILED',
        message: expect.stringContaining('The line is cut'),
      });
      watch.before = () => {};
      expect(await store.getResponse('run-1')).toStrictEqual(saved);
    }
    await store.saveResponse(big('run-1', { lastSeq: 99 }));
    expect(await store.getResponse('run-1')).toStrictEqual(big('run-1', { lastSeq: 99 }));
    await expect.poll(async () => count('writes'), patience).toBe(0);
    await store.deleteSession('session-1');
    await expect.poll(async () => count('writes'), patience).toBe(0);
    for (const table of ['messages', 'items', 'words'] as const) {
      expect([table, await count(table)]).toEqual([table, 0]);
    }
    await tidied();
  });

  test('may be a run’s head, which is cut, so that the items are stored', async () => {
    const { store } = await openDeployment(deploy().caller, secret);
    const error = { code: 'BROKEN', message: '\u0001'.repeat(2_000_000) };
    await store.saveResponse(response('run-1', ['a'], { status: 'error', error }));
    const kept = await store.getResponse('run-1');
    expect(kept?.outputItems).toStrictEqual(response('run-1', ['a']).outputItems);
    expect(kept).toMatchObject({
      id: 'run-1',
      lastSeq: 1,
      error: { code: 'BROKEN', message: expect.stringMatching(/cut here: too long\)$/) },
    });
  });

  testAtLength('may be many runs with large heads', async () => {
    const { caller, count, tidied } = deploy();
    const { store } = await openDeployment(caller, secret);
    const error = { code: 'BROKEN', message: '…'.repeat(60_000) };
    // Some runs have no items, and are returned with their neighbours.
    const runs = Array.from({ length: 90 }, (_, at) =>
      response(`run-${at}`, at % 10 === 0 ? ['a', 'b'] : [], { status: 'error', error }),
    );
    await store.importResponses(runs);
    expect(await store.listRuns('session-1')).toStrictEqual(runs.map(headOf));
    const page = await store.readItems('session-1', { limit: 200 });
    expect(page.heads).toStrictEqual(runs.map(headOf));
    expect(page).toMatchObject({ items: { length: 18 }, hasMore: false });
    await store.deleteSession('session-1');
    expect(await count('messages')).toBe(0);
    await tidied();
  });

  const much = { error: { code: 'BROKEN', message: '…'.repeat(60_000) }, status: 'error' } as const;
  // One call deletes a thousand runs, or fewer if they are large.
  const deleted = {
    'large runs': Array.from({ length: 80 }, (_, at) => response(`run-${at}`, ['a'], much)),
    'many runs': Array.from({ length: 1_100 }, (_, at) => response(`run-${at}`, ['a'])),
  };
  test.each(partOf(deleted, ['large runs']))(
    'SAFE: may be a session of %s that is deleted: the rest is deleted, even if the server dies after the first call',
    async (_, runs) => {
      const { caller, count, tidied } = deploy();
      const { watch, caller: breaking } = watched(caller);
      const { store } = await openDeployment(breaking, secret);
      await store.saveSession(sessionRecord('session-1'));
      await store.importResponses(runs);
      let calls = 0;
      watch.before = () => {
        // The first call of a deletion reads the record, and the second deletes; all later calls fail.
        if (++calls > 2) throw new Error('The server is gone.');
      };
      await expect(store.deleteSession('session-1')).rejects.toThrow('The server is gone.');
      watch.before = () => {};
      expect(await store.getSession('session-1')).toBeUndefined();
      for (const table of ['messages', 'items', 'words'] as const) {
        await expect.poll(async () => count(table), patience).toBe(0);
      }
      // A late save of a slow projector, in several calls.
      await store.saveResponse(big('run-late'));
      for (const table of ['messages', 'items', 'words', 'writes'] as const) {
        await expect.poll(async () => count(table), patience).toBe(0);
      }
      await tidied();
    },
  );

  test('may be the items that a snapshot replaces', async () => {
    const { store } = await openDeployment(deploy().caller, secret);
    const under = { status: 'in_progress' } as const;
    await store.saveResponse(big('run-1', { ...under, lastSeq: 1 }));
    const less = response('run-1', Array<string>(24).fill('a'), { ...under, lastSeq: 2 });
    await store.saveResponse(less);
    expect(await store.getResponse('run-1')).toStrictEqual(less);
  });

  testAtLength('may be the list of all sessions', async () => {
    const { store } = await openDeployment(deploy().caller, secret);
    const queued = { turnId: 't', queuedAt: '2026-01-01T00:00:00Z', state: 'queued' } as const;
    const queue = [{ ...queued, message: 'größer '.repeat(140_000) }];
    // Many sessions with the same time.
    const times = [...Array<string>(3).fill('2026-01-02'), ...Array<string>(9).fill('2026-01-01')];
    const ids = times.map((time, at) => [`session-${at}`, time] as const);
    for (const [id, time] of ids.toReversed()) {
      const projectId = `project-${time}`;
      await store.saveSession(
        sessionRecord(id, { updatedAt: time, createdAt: '2026', projectId, queue }),
      );
    }
    expect((await store.listSessions()).map(({ sessionId }) => sessionId)).toEqual(
      ids.map(([id]) => id),
    );
    const listed = await store.listSessions({ projectId: 'project-2026-01-01' });
    expect(listed).toHaveLength(9);
  });

  testAtLength('may be all hits of a search', async () => {
    const { store } = await openDeployment(deploy().caller, secret);
    // All words of a text differ, so that the index keeps as many words of it as it can.
    const long = 'слово'.repeat(10);
    const text = (at: number) =>
      `needle ${Array.from({ length: 1_400 }, (_, word) => `${long}${at * 2_000 + word}`).join(' ')}`;
    const texts = Array.from({ length: 160 }, (_, at) => text(at));
    await store.saveResponse(response('run-1', texts));
    const hits = await store.search({ text: 'needle', limit: 500 });
    expect(hits.length).toBeGreaterThan(90);
    expect(hits[0]).toMatchObject({ sessionId: 'session-1', item: { runId: 'run-1' } });
  });

  testAtLength('may be one item, or a session with a long queue', async () => {
    const { caller } = deploy();
    const { store } = await openDeployment(caller, secret);
    const one = response('run-1', ['🧵 größer '.repeat(1_000_000)]);
    await store.saveResponse(one);
    expect(await store.getResponse('run-1')).toStrictEqual(one);
    const queued = { turnId: 't', queuedAt: '2026-01-01T00:00:00Z', state: 'queued' } as const;
    const waiting = sessionRecord('session-1', {
      queue: [{ ...queued, message: '🧵'.repeat(500_000) }],
    });
    await store.saveSession(waiting);
    expect(await store.getSession('session-1')).toStrictEqual(waiting);
    expect(await store.listSessions()).toStrictEqual([waiting]);
  });
});
