import type { Response } from '@liminal/protocol';
import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { eventScripts } from '@liminal/protocol/testing';
import { atLength } from '@liminal/testkit/at-length';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ResponseStore } from '../response-store.ts';
import { headOf, message, readAllPages, response, sessionRecord } from './records.ts';
import { amountOf, type Extent, type Setup, type SubjectUnderTest } from './subject.ts';

/** Tests the contract of every ResponseStore. */
export function responseStoreSuite(setup: Setup<ResponseStore>, extent: Extent = 'whole'): void {
  let store: ResponseStore;
  let under: SubjectUnderTest<ResponseStore>;
  beforeEach(async () => {
    under = await setup();
    store = under.subject;
  });
  afterEach(() => under.teardown());

  /** The store after a restart, if the driver survives one. */
  async function reopened(): Promise<ResponseStore> {
    store = (await under.reopen?.()) ?? store;
    return store;
  }

  describe('sessions', () => {
    test('are returned as they were last saved, also after a restart', async () => {
      await store.saveSession(sessionRecord('session-1'));
      const changed = sessionRecord('session-1', {
        title: 'Grüße \uD800 🧵',
        agentSessionId: 'agent-1',
        formerAgentSessionIds: ['agent-0'],
        forkedFrom: { sessionId: 'session-0', turnId: 'turn-1', title: 'First' },
        config: { model: 'model-1' },
        queue: [{ turnId: 't', message: 'm', queuedAt: '2026-01-01T00:00:00Z', state: 'queued' }],
        active: false,
        imported: true,
      });
      await store.saveSession(changed);
      expect(await store.getSession('session-1')).toStrictEqual(changed);
      expect(await (await reopened()).getSession('session-1')).toStrictEqual(changed);
      expect(await store.getSession('nobody')).toBeUndefined();
    });

    test('saves of a former owner are refused and change nothing', async () => {
      const owned = sessionRecord('session-1', { fence: 3, title: 'Now' });
      await store.saveSession(owned);
      const stale = sessionRecord('session-1', { fence: 2, title: 'Then' });
      await expect(store.saveSession(stale)).rejects.toMatchObject({ code: 'STALE_OWNER' });
      expect(await (await reopened()).getSession('session-1')).toStrictEqual(owned);
      await store.saveSession({ ...owned, title: 'Later' });
      await store.saveSession({ ...owned, fence: 4, title: 'Next' });
      expect(await store.getSession('session-1')).toMatchObject({ fence: 4, title: 'Next' });
    });

    test('a new owner gets the record in the state in which the previous owner left it, and later saves of the previous owner are refused', async () => {
      const left = sessionRecord('session-1', { fence: 3, title: 'Left' });
      await store.saveSession(left);
      expect(await store.takeSession('session-1', 5)).toStrictEqual({ ...left, fence: 5 });
      await expect(store.saveSession(left)).rejects.toMatchObject({ code: 'STALE_OWNER' });
      await expect(store.takeSession('session-1', 4)).rejects.toMatchObject({
        code: 'STALE_OWNER',
      });
      expect(await (await reopened()).getSession('session-1')).toStrictEqual({ ...left, fence: 5 });
      expect(await store.takeSession('nobody', 1)).toBeUndefined();
      expect(await store.getSession('nobody')).toBeUndefined();
    });

    test('a new owner gets all acknowledged saves of the previous owner', async () => {
      for (let round = 1; round <= 20; round++) {
        const sessionId = `session-${round}`;
        const owned = sessionRecord(sessionId, { fence: 1 });
        await store.saveSession(owned);
        const [saved, taken] = await Promise.all([
          store.saveSession({ ...owned, title: 'Late' }).then(
            () => 'Late',
            () => owned.title,
          ),
          store.takeSession(sessionId, 2),
        ]);
        expect(taken?.title).toBe(saved);
        expect(await store.getSession(sessionId)).toStrictEqual(taken);
      }
    });

    test('are listed newest first, by project and by whether they are active', async () => {
      const records = [
        sessionRecord('a', { updatedAt: '2026-01-02T00:00:00.000Z' }),
        sessionRecord('b', { updatedAt: '2026-01-03T00:00:00.000Z', projectId: 'project-2' }),
        sessionRecord('c', { updatedAt: '2026-01-04T00:00:00.000Z', active: false }),
        sessionRecord('d', { createdAt: '2026-01-01T12:00:00.000Z' }),
        sessionRecord('e', { createdAt: '2026-01-01T06:00:00.000Z' }),
      ];
      for (const record of records) await store.saveSession(record);
      const listed = async (filter?: { projectId?: string; active?: boolean }) =>
        (await store.listSessions(filter)).map(({ sessionId }) => sessionId);
      expect(await listed()).toEqual(['c', 'b', 'a', 'd', 'e']);
      expect(await listed({ projectId: 'project-1' })).toEqual(['c', 'a', 'd', 'e']);
      expect(await listed({ active: true })).toEqual(['b', 'a', 'd', 'e']);
      expect(await listed({ projectId: 'project-1', active: false })).toEqual(['c']);
      expect(await listed({ projectId: 'nobody' })).toEqual([]);
    });

    test('if a listed session is saved again, it moves in the list', async () => {
      await store.saveSession(sessionRecord('a', { updatedAt: '2026-01-03T00:00:00.000Z' }));
      await store.saveSession(sessionRecord('b', { updatedAt: '2026-01-02T00:00:00.000Z' }));
      await store.saveSession(
        sessionRecord('b', {
          updatedAt: '2026-01-04T00:00:00.000Z',
          active: false,
          projectId: 'project-2',
        }),
      );
      expect((await store.listSessions()).map(({ sessionId }) => sessionId)).toEqual(['b', 'a']);
      expect(await store.listSessions({ projectId: 'project-2', active: false })).toHaveLength(1);
      expect(await store.listSessions({ projectId: 'project-1', active: true })).toHaveLength(1);
    });

    test('are deleted with all their Responses, and the Responses of other sessions stay', async () => {
      await store.saveSession(sessionRecord('session-1'));
      await store.saveSession(sessionRecord('session-2'));
      await store.importResponses([response('run-1', ['a']), response('run-2', ['b'])]);
      const other = response('run-3', ['c'], { sessionId: 'session-2' });
      await store.saveResponse(other);
      await store.deleteSession('session-1');
      await store.deleteSession('nobody');
      const again = await reopened();
      expect(await again.getSession('session-1')).toBeUndefined();
      expect(await again.getResponse('run-1')).toBeUndefined();
      expect(await again.listRuns('session-1')).toEqual([]);
      expect(await again.readItems('session-1', { limit: 10 })).toEqual({
        items: [],
        heads: [],
        hasMore: false,
      });
      expect(await again.getResponse('run-3')).toStrictEqual(other);
      expect(await again.listSessions()).toHaveLength(1);
    });

    test('stay deleted even if a former owner or a slow projector still saves them', async () => {
      const record = sessionRecord('session-1', { agentSessionId: 'agent-1', fence: 1 });
      await store.saveSession(record);
      await store.saveResponse(response('run-1', ['a'], { status: 'in_progress' }));
      await store.deleteSession('session-1');
      await store.deleteSession('session-1');
      const again = await reopened();
      for (const late of [record, { ...record, fence: 9 }, sessionRecord('agent-1')]) {
        await expect(again.saveSession(late)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
      }
      await again.saveResponse(response('run-1', ['a', 'b']));
      // This is more items than Convex accepts in one call.
      const count = amountOf(extent, { whole: 3_000, part: 1_100 });
      const large = Array.from({ length: count }, (_, at) => `large ${at}`);
      await again.importResponses([response('run-2', ['c']), response('run-3', large)]);
      const other = response('run-4', ['d'], { sessionId: 'session-2' });
      await again.importResponses([response('run-5', ['e']), other]);
      expect(await again.takeSession('session-1', 10)).toBeUndefined();
      expect(await again.getSession('session-1')).toBeUndefined();
      expect(await again.listSessions()).toEqual([]);
      for (const at of [1, 2, 3, 5]) expect(await again.getResponse(`run-${at}`)).toBeUndefined();
      expect(await again.getResponse('run-4')).toStrictEqual(other);
      expect(await again.search({ text: 'large', limit: 10 })).toEqual([]);
    });

    test('that were deleted are found by their ids and their agents’ ids', async () => {
      const ids = { agentSessionId: 'agent-1', formerAgentSessionIds: ['agent-0'] };
      await store.saveSession(sessionRecord('\u0000 \uD800', ids));
      await store.saveSession(sessionRecord('session-2'));
      await store.deleteSession('\u0000 \uD800');
      await store.deleteSession('never stored');
      await store.saveSession(sessionRecord('never stored'));
      const again = await reopened();
      const many = Array.from({ length: 2_500 }, (_, at) => `other ${at}`);
      const asked = ['agent-1', 'agent-0', 'session-2', ...many, '\u0000 \uD800', 'never stored'];
      expect(await again.findDeleted(asked)).toEqual(['agent-1', 'agent-0', '\u0000 \uD800']);
      expect(await again.findDeleted([])).toEqual([]);
    });

    test('are deleted permanently, even if they are saved at the same time', async () => {
      for (let round = 0; round < 10; round++) {
        const sessionId = `session-${round}`;
        await store.saveSession(sessionRecord(sessionId));
        const run = response(`run-${round}`, ['a'], { sessionId });
        const saving = [
          store.saveSession(sessionRecord(sessionId, { title: 'Late' })),
          store.saveResponse(run),
          store.takeSession(sessionId, 1),
        ];
        await Promise.allSettled([store.deleteSession(sessionId), ...saving]);
        expect(await store.getSession(sessionId)).toBeUndefined();
        expect(await store.getResponse(run.id)).toBeUndefined();
      }
    });
  });

  describe('Responses', () => {
    test('are returned as they were saved, also after a restart', async () => {
      const saved = response('run-1', ['Grüße 🧵', '\u0000"\\\uD800', 'x'.repeat(2_000_000)], {
        status: 'error',
        trigger: 'agent',
        agentId: 'agent-1',
        error: { code: 'X', message: 'm', details: { deep: [1, null] } },
        usage: { inputTokens: 1, outputTokens: 2, costUsd: 0.5 },
      });
      await store.saveResponse(saved);
      expect(await store.getResponse('run-1')).toStrictEqual(saved);
      expect(await (await reopened()).getResponse('run-1')).toStrictEqual(saved);
      expect(await store.getResponse('nobody')).toBeUndefined();
    });

    test('a later snapshot replaces an earlier snapshot: items grow, change and shrink', async () => {
      const snapshots: Response[] = [
        response('run-1', [], { lastSeq: 0, status: 'in_progress' }),
        response('run-1', ['a', 'b'], { lastSeq: 3, status: 'in_progress' }),
        response('run-1', ['a', 'b changed', 'c'], { lastSeq: 5, status: 'in_progress' }),
        response('run-1', ['b changed'], { lastSeq: 6, status: 'in_progress' }),
        response('run-1', ['b changed', 'd'], { lastSeq: 9, finishReason: 'stop' }),
      ];
      for (const snapshot of snapshots) {
        await store.saveResponse(snapshot);
        expect(await store.getResponse('run-1')).toStrictEqual(snapshot);
      }
      expect(await (await reopened()).getResponse('run-1')).toStrictEqual(snapshots.at(-1));
    });

    // Long runs store as much text as an agent may write in one turn.
    const mebis = atLength ? 256 : amountOf(extent, { whole: 24, part: 12 });
    // One item that is larger than a page.
    const largest = amountOf(extent, { whole: 16, part: 9 });
    const small = amountOf(extent, { whole: 3_000, part: 1_100 });
    test(
      'SAFE: a turn of very many characters is stored whole while it grows and when it ends',
      { timeout: 300_000 },
      async () => {
        // The text repeats one long word, because long words take longer than many short ones.
        const word = amountOf(extent, { whole: 1024, part: 1 }) * 1024;
        const mebi = `${'x'.repeat(word - 1)} `.repeat((1024 * 1024) / word);
        const texts = Array.from({ length: mebis - largest }, (_, at) => `${at} ${mebi}`);
        texts.push(
          mebi.repeat(largest),
          ...Array.from({ length: small }, (_, at) => `small ${at}`),
        );
        const saved = response('run-1', texts);
        for (const [count, status] of [
          [2, 'in_progress'],
          [mebis - largest + 1, 'in_progress'],
          [texts.length, 'in_progress'],
          [texts.length, 'complete'],
        ] as const) {
          const outputItems = saved.outputItems.slice(0, count);
          await store.saveResponse({ ...saved, status, outputItems });
        }
        const again = await reopened();
        const { items } = await again.readItems('session-1', {
          limit: 5_000,
          size: 8 * 1024 * 1024,
        });
        expect(items).toHaveLength(small);
        expect(await again.getResponse('run-1')).toStrictEqual(saved);
      },
    );

    test('an older snapshot changes nothing, and a snapshot of the same age replaces the stored one', async () => {
      const saved = response('run-1', ['a', 'b'], { lastSeq: 5 });
      await store.saveResponse(saved);
      await store.saveResponse(response('run-1', ['old'], { lastSeq: 4, status: 'in_progress' }));
      await store.importResponses([response('run-1', ['older'], { lastSeq: -1 })]);
      expect(await store.getResponse('run-1')).toStrictEqual(saved);
      const same = response('run-1', ['a', 'again'], { lastSeq: 5 });
      await store.saveResponse(same);
      expect(await store.getResponse('run-1')).toStrictEqual(same);
    });

    test('runs keep the order of their first save', async () => {
      for (const id of ['run-b', 'run-a', 'run-c']) await store.saveResponse(response(id, ['x']));
      const last = response('run-b', ['x', 'y'], { lastSeq: 9 });
      await store.saveResponse(last);
      await store.saveResponse(response('elsewhere', ['x'], { sessionId: 'session-2' }));
      const again = await reopened();
      const expected = [last, response('run-a', ['x']), response('run-c', ['x'])].map(headOf);
      expect(await again.listRuns('session-1')).toStrictEqual(expected);
      expect(await again.listRuns('session-1', { fromRunId: 'run-b' })).toStrictEqual(expected);
      expect(await again.listRuns('session-1', { fromRunId: 'run-a' })).toStrictEqual(
        expected.slice(1),
      );
      expect(await again.listRuns('session-1', { fromRunId: 'nobody' })).toBeUndefined();
      expect(await again.listRuns('session-1', { fromRunId: 'elsewhere' })).toBeUndefined();
      expect(await again.listRuns('nobody')).toEqual([]);
    });

    test('an import keeps the order of its runs, and is stored completely or not at all', async () => {
      const turns = ['run-c', 'run-a', 'run-b'].map((id) => response(id, ['x', 'y']));
      const bad = response('run-d', ['z']);
      bad.outputItems.push({ ...message('w'), raw: 1n });
      await expect(store.importResponses([...turns, bad])).rejects.toMatchObject({
        code: 'STORE_WRITE_FAILED',
      });
      expect(await store.listRuns('session-1')).toEqual([]);
      expect(await store.getResponse('run-c')).toBeUndefined();
      await store.importResponses(turns);
      expect(await (await reopened()).listRuns('session-1')).toStrictEqual(turns.map(headOf));
      await expect(store.importResponses([])).resolves.toBeUndefined();
    });

    test('any run is returned as it was folded, whichever snapshots were saved before', async () => {
      const snapshots = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });
      const property = fc.asyncProperty(eventScripts(), snapshots, async (run, saves) => {
        await store.deleteSession('session-1');
        let state = emptyResponse();
        for (const [at, event] of run.entries()) {
          state = foldResponse(state, event);
          if (!saves[at % saves.length] && at < run.length - 1) continue;
          const snapshot = toResponse(state)!;
          await store.saveResponse(snapshot);
          expect(await store.getResponse('run-1')).toEqual(snapshot);
        }
      });
      await fc.assert(property, { numRuns: amountOf(extent, { whole: 40, part: 12 }) });
    });

    test('a snapshot that cannot be written does not change the earlier snapshot', async () => {
      const saved = response('run-1', ['a', 'b']);
      await store.saveResponse(saved);
      const bad = response('run-1', ['changed'], { lastSeq: 9 });
      bad.outputItems.push({ ...message('w'), raw: 1n });
      await expect(store.saveResponse(bad)).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' });
      expect(await store.getResponse('run-1')).toStrictEqual(saved);
    });

    test('a caller’s later changes of a Response or session change nothing', async () => {
      const [saved, session] = [response('run-1', ['a']), sessionRecord('session-1')];
      await store.saveResponse(saved);
      await store.saveSession(session);
      saved.outputItems.length = 0;
      session.config['model'] = 'changed';
      expect(await store.getResponse('run-1')).toStrictEqual(response('run-1', ['a']));
      expect(await store.getSession('session-1')).toStrictEqual(sessionRecord('session-1'));
      (await store.getSession('session-1'))!.queue.length = 1;
      expect((await store.getSession('session-1'))!.queue).toEqual([]);
    });

    test('SAFE: ids with lone surrogates are kept distinct, in a store and in a page', async () => {
      const halves = ['\ud800', '\ud801', '\udc00', '\ufffd', '\u0000json:\\ud800', '\\ud800'];
      for (const id of halves) {
        await store.saveSession(sessionRecord(id, { projectId: id }));
        await store.saveResponse(response(id, ['a', 'b', id], { sessionId: id }));
      }
      const again = await reopened();
      for (const id of halves) {
        expect(await again.getSession(id)).toMatchObject({ sessionId: id });
        expect(await again.listSessions({ projectId: id })).toHaveLength(1);
        expect(await again.getResponse(id)).toMatchObject({ id, sessionId: id });
        expect((await readAllPages(again, id, 2)).map(({ places }) => places)).toEqual([
          [`${id}:1`, `${id}:2`],
          [`${id}:0`],
        ]);
      }
    });
  });
}
