import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ResponseStore } from '../response-store.ts';
import { headOf, response, sessionRecord } from './records.ts';
import type { Setup, SubjectUnderTest } from './subject.ts';

export interface Damageable {
  store: ResponseStore;
  /**
   * Applies `change` to the stored JSON of each record, head, item or grant. `change` may return the JSON unchanged.
   */
  damage(
    kind: 'session' | 'head' | 'item' | 'grant',
    change: (json: string) => string,
  ): Promise<void>;
}

/**
 * The contract of every ResponseStore for damaged records.
 * @param options.listsIds - Whether a list has the id under which each record is stored, besides the id in the record.
 */
export function damageSuite(setup: Setup<Damageable>, { listsIds = true } = {}): void {
  let store: ResponseStore;
  let under: SubjectUnderTest<Damageable>;
  beforeEach(async () => {
    under = await setup();
    store = under.subject.store;
  });
  afterEach(() => under.teardown());

  const whole = sessionRecord('whole');
  const spoilt = sessionRecord('spoilt');
  const breaks = (one: string, change: (json: string) => string) => (json: string) =>
    json.includes(`"${one}"`) ? change(json) : json;
  /** Changes one letter of a key, so that the text is still JSON. */
  const rename = (key: string) => (json: string) =>
    json.replace(`"${key}":`, `"${key.slice(1)}X":`);
  const changes: [string, (json: string) => string][] = [
    ...Object.keys(spoilt).map((key): [string, (json: string) => string] => [key, rename(key)]),
    ['(not JSON)', (json) => json.slice(1)],
    ['(a time)', (json) => json.replace('"2026-', '"2O26-')],
    ['(a number for a list)', (json) => json.replace('"queue":[]', '"queue":7')],
  ];
  if (listsIds) {
    changes.push(['(another session)', (json) => json.replace('"spoilt"', '"spoiltX"')]);
  }

  describe('a damaged record', () => {
    test.each(changes)(
      'of a session is set aside and not overwritten; others are read: %s',
      async (_name, change) => {
        for (const each of [spoilt, whole]) await store.saveSession(each);
        await under.subject.damage('session', breaks('spoilt', change));
        expect(await store.listSessions()).toStrictEqual([whole]);
        expect(await store.getSession('spoilt')).toBeUndefined();
        expect(await store.takeSession('spoilt', 7)).toBeUndefined();
        await expect(store.saveSession(spoilt)).rejects.toMatchObject({
          code: 'STORE_READ_FAILED',
          message: expect.stringContaining('spoilt'),
        });
        expect(await store.search({ text: 'Title', limit: 5 })).toHaveLength(1);
        await store.saveSession({ ...whole, title: 'New' });
        expect(await store.getSession('whole')).toMatchObject({ title: 'New' });
        await under.subject.damage('session', (json) => json);
        expect(await store.getSession('spoilt')).toBeUndefined();
      },
    );

    test('of an agent’s last report is dropped, and the session is read', async () => {
      const usage = { inputTokens: 1, outputTokens: 2 };
      await store.saveSession({ ...whole, lastKnown: { values: { model: 'm' }, usage } });
      expect((await store.getSession('whole'))?.lastKnown).toEqual({
        values: { model: 'm' },
        usage,
      });
      await under.subject.damage('session', (json) =>
        json.replace('"inputTokens":1', '"inputTokens":-1'),
      );
      for (const read of [await store.getSession('whole'), (await store.listSessions())[0]]) {
        expect(read).toStrictEqual(whole);
      }
    });

    const required = Object.keys(headOf(response('r1', [])));
    test.each(required)(
      'of a run becomes a failed run, and other runs are read: %s',
      async (key) => {
        const [spoiltRun, wholeRun] = [response('r1', ['one']), response('r2', ['two'])];
        await store.importResponses([spoiltRun, wholeRun]);
        await under.subject.damage('head', breaks('r1', rename(key)));
        const runs = (await store.listRuns('session-1')) ?? [];
        expect(runs.at(-1)).toStrictEqual(headOf(wholeRun));
        for (const run of runs.slice(0, -1)) {
          expect(run).toMatchObject({ id: 'r1', error: { code: 'STORE_DAMAGED' } });
        }
        const { items } = await store.readItems('session-1', { limit: 10 });
        expect(items.map(({ item }) => item)).toMatchObject([
          { content: 'one' },
          { content: 'two' },
        ]);
        expect(await store.getResponse('r2')).toStrictEqual(wholeRun);
      },
    );

    test.each(['id', 'type', 'content'])(
      'of an item becomes an error item, and other items are read: %s',
      async (key) => {
        await store.importResponses([response('r1', ['one', 'two'])]);
        await under.subject.damage('item', breaks('one', rename(key)));
        const { items } = await store.readItems('session-1', { limit: 10 });
        const shown = [{ type: 'error', code: 'STORE_DAMAGED' }, { content: 'two' }];
        expect(items.map(({ item }) => item)).toMatchObject(shown);
        expect(await store.getResponse('r1')).toMatchObject({ outputItems: shown });
        expect(await store.search({ text: 'two', limit: 5 })).toHaveLength(1);
      },
    );

    test.each([
      ['item', 'locations', [{ path: '/a', line: 1.5 }]],
      ['item', 'exitCode', 1e300],
      ['item', 'blocks', [{ type: 'resource_link', uri: 'a:b', name: 'a', size: null }]],
      ['head', 'usage', { inputTokens: -1, outputTokens: null }],
    ] as const)('of an %s is read without an invalid number: %s', async (kind, name, value) => {
      const call = {
        type: 'function_call',
        id: 'a',
        callId: 'a',
        name: 'Read',
        arguments: '{}',
        origin: 'agent',
      } as const;
      const output = {
        type: 'function_call_output',
        id: 'b',
        callId: 'a',
        output: 'one',
        success: true,
        origin: 'system',
      } as const;
      const run = { ...response('r1', []), outputItems: [call, output] };
      await store.importResponses([run]);
      const change = (json: string) => JSON.stringify({ ...JSON.parse(json), [name]: value });
      await under.subject.damage(
        kind,
        breaks(name === 'locations' ? 'a' : kind === 'head' ? 'r1' : 'b', change),
      );
      const { items, heads } = await store.readItems('session-1', { limit: 10 });
      expect(items.map(({ item }) => item)).toMatchObject([call, output]);
      expect(heads).toMatchObject([{ id: 'r1', status: run.status }]);
    });

    test('of a grant is dropped: people are asked again', async () => {
      const grantedAt = '2026-01-01T00:00:00.000Z';
      const [one, two] = ['edit:a', 'edit:b'].map((rule) => ({ rule, title: rule, grantedAt }));
      for (const grant of [one!, two!]) await store.addGrant('project-1', grant);
      await under.subject.damage('grant', breaks('edit:a', rename('title')));
      expect(await store.listGrants('project-1')).toStrictEqual([two]);
    });
  });
}
