import { maxItemSize, type OutputItem } from '@liminal/protocol';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ResponseStore } from '../response-store.ts';
import { headOf, message, readAllPages, response } from './records.ts';
import { amountOf, type Extent, type Setup, type SubjectUnderTest } from './subject.ts';

/** Tests the contract of every ResponseStore for pages of history. Pages are limited by items and bytes. */
export function itemPagesSuite(setup: Setup<ResponseStore>, extent: Extent = 'whole'): void {
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

  test('are read newest page first, with items oldest first, across runs', async () => {
    await store.saveResponse(response('run-1', ['a', 'b', 'c']));
    await store.saveResponse(response('elsewhere', ['x'], { sessionId: 'session-2' }));
    await store.saveResponse(response('run-2', ['d', 'e']));
    expect(await readAllPages(await reopened(), 'session-1', 2)).toEqual([
      { places: ['run-2:0', 'run-2:1'], heads: ['run-2'], hasMore: true },
      { places: ['run-1:1', 'run-1:2'], heads: ['run-1'], hasMore: true },
      { places: ['run-1:0'], heads: ['run-1'], hasMore: false },
    ]);
    const page = await store.readItems('session-1', { limit: 3 });
    expect(page).toStrictEqual({
      items: [
        { runId: 'run-1', index: 2, item: message('c', 'run-1-item-2') },
        { runId: 'run-2', index: 0, item: message('d', 'run-2-item-0') },
        { runId: 'run-2', index: 1, item: message('e', 'run-2-item-1') },
      ],
      heads: [headOf(response('run-1', ['a', 'b', 'c'])), headOf(response('run-2', ['d', 'e']))],
      hasMore: true,
    });
  });

  test('have runs without items next to their neighbours, each once', async () => {
    const texts: [string, string[]][] = [
      ['none-1', []],
      ['run-2', ['a', 'b']],
      ['none-3', []],
      ['none-4', []],
      ['run-5', ['c']],
      ['none-6', []],
    ];
    for (const [id, of] of texts) await store.saveResponse(response(id, of));
    expect(await readAllPages(store, 'session-1', 1)).toEqual([
      { places: ['run-5:0'], heads: ['run-5', 'none-6'], hasMore: true },
      { places: ['run-2:1'], heads: ['run-2', 'none-3', 'none-4'], hasMore: true },
      { places: ['run-2:0'], heads: ['none-1', 'run-2'], hasMore: false },
    ]);
    expect(await readAllPages(store, 'session-1', 3)).toEqual([
      {
        places: ['run-2:0', 'run-2:1', 'run-5:0'],
        heads: ['none-1', 'run-2', 'none-3', 'none-4', 'run-5', 'none-6'],
        hasMore: false,
      },
    ]);
  });

  test('a session whose runs have no items has only heads', async () => {
    await store.saveResponse(response('none-1', []));
    await store.saveResponse(response('none-2', []));
    expect(await readAllPages(store, 'session-1', 10)).toEqual([
      { places: [], heads: ['none-1', 'none-2'], hasMore: false },
    ]);
  });

  test('a page before a position in a run of another session is empty', async () => {
    await store.saveResponse(response('run-1', ['a']));
    await store.saveResponse(response('elsewhere', ['x'], { sessionId: 'session-2' }));
    for (const runId of ['nobody', 'elsewhere']) {
      const page = await store.readItems('session-1', { before: { runId, index: 1 }, limit: 5 });
      expect(page).toEqual({ items: [], heads: [], hasMore: false });
    }
  });

  test('a position after the end of a run is treated as the end of the run', async () => {
    await store.saveResponse(response('run-1', ['a', 'b']));
    const before = { runId: 'run-1', index: 99 };
    const page = await store.readItems('session-1', { before, limit: 1 });
    expect(page.items.map(({ index }) => index)).toEqual([1]);
  });

  test('SAFE: of few bytes together have every item, even an item that is larger than a page', async () => {
    const large = 'x'.repeat(5_000);
    await store.saveResponse(response('run-1', ['a', large, 'b']));
    await store.saveResponse(response('run-2', []));
    await store.saveResponse(response('run-3', [large, 'c', 'd']));
    const of = (run: number, ...indexes: number[]) => indexes.map((index) => `run-${run}:${index}`);
    expect(await readAllPages(store, 'session-1', 10, 1_000)).toEqual([
      { places: of(3, 1, 2), heads: ['run-3'], hasMore: true },
      { places: of(3, 0), heads: ['run-3'], hasMore: true },
      { places: of(1, 2), heads: ['run-1', 'run-2'], hasMore: true },
      { places: of(1, 1), heads: ['run-1'], hasMore: true },
      { places: of(1, 0), heads: ['run-1'], hasMore: false },
    ]);
  });

  test('SAFE: have as many items as fit, to the byte', async () => {
    const texts = ['long enough', 'größer 🧵', 'a "quoted"\n\u0001 one', 'last'];
    const run = response('run-1', texts);
    await store.saveResponse(run);
    const [, ...newest] = run.outputItems;
    const size = Buffer.byteLength(newest.map((item) => JSON.stringify(item)).join(''));
    const within = await store.readItems('session-1', { limit: 10, size });
    expect(within).toMatchObject({ items: newest.map((item) => ({ item })), hasMore: true });
    const below = await store.readItems('session-1', { limit: 10, size: size - 1 });
    expect(below.items.map(({ index }) => index)).toEqual([2, 3]);
  });

  test('SAFE: an item of the largest size is stored whole, and read in pages', async () => {
    const most = maxItemSize - 100;
    // The text repeats one word of this length, because a text of many different long words takes much longer.
    const word = 'ö'.repeat(amountOf(extent, { whole: most, part: 1 })) + 'x'.repeat(1_022);
    const huge = `${word} `.repeat(Math.ceil(most / word.length)).slice(0, most);
    // Even if only a part of the suite runs, this item is larger than a page.
    const large = huge.slice(0, amountOf(extent, { whole: most, part: 9 * 1024 * 1024 }));
    const saved = response('run-1', ['before', huge, large, 'after']);
    await store.saveResponse(saved);
    expect(await store.getResponse('run-1')).toStrictEqual(saved);
    const pages = await readAllPages(await reopened(), 'session-1', 200, 8 * 1024 * 1024);
    expect(pages.map(({ places }) => places)).toEqual([
      ['run-1:3'],
      ['run-1:2'],
      ['run-1:1'],
      ['run-1:0'],
    ]);
    const before = { runId: 'run-1', index: 3 };
    const { items } = await store.readItems('session-1', { before, limit: 200, size: 1 });
    expect(items.map(({ item }) => item)).toStrictEqual([saved.outputItems[2]]);
  });

  test('items of tool calls, scripts and permission requests are found by their call, nearest first', async () => {
    const call = (callId: string): OutputItem => ({
      id: `call:${callId}`,
      type: 'function_call',
      origin: 'agent',
      callId,
      name: 'Read',
      arguments: '{}',
    });
    const answer = (callId: string, id = `answer:${callId}`): OutputItem => ({
      id,
      type: 'function_call_output',
      origin: 'system',
      callId,
      output: 'Done',
      success: true,
    });
    const odd = `c\u0000\ud800 ${'long '.repeat(2_000)}`;
    const outputItems: OutputItem[] = [
      call('a'),
      { id: 'a', type: 'script_execution', origin: 'agent', code: '1' },
      call(odd),
      message('between'),
      { id: 'asks', type: 'approval', approvalId: 'p', title: 'T', callId: 'a', options: [] },
      answer('a'),
      {
        id: 'out',
        type: 'script_execution_output',
        origin: 'system',
        scriptId: 'a',
        result: '1',
        success: true,
      },
      answer(odd),
      ...Array.from({ length: 12 }, (_, n) => answer('again', `again:${n}`)),
    ];
    await store.saveResponse(response('run-1', [], { outputItems }));
    await store.saveResponse(response('run-2', [], { outputItems: [call('a'), answer('a')] }));
    await reopened();
    const found = async (side: 'before' | 'from', index: number, ...keys: string[]) => {
      const items = await store.readCalls({ runId: 'run-1', keys, side, index });
      for (const { runId, index: at, item } of items) {
        expect({ runId, item }).toEqual({ runId: 'run-1', item: outputItems[at] });
      }
      return items.map((one) => one.index);
    };
    expect(await found('before', 20, 'tool:a')).toEqual([0, 4, 5]);
    expect(await found('before', 20, 'script:a', `tool:${odd}`)).toEqual([1, 2, 6, 7]);
    expect(await found('before', 5, 'tool:a', 'script:a')).toEqual([0, 1, 4]);
    expect(await found('from', 5, 'tool:a', 'script:a')).toEqual([5, 6]);
    expect(await found('before', 20, 'tool:again')).toEqual([12, 13, 14, 15, 16, 17, 18, 19]);
    expect(await found('from', 0, 'tool:again')).toEqual([8, 9, 10, 11, 12, 13, 14, 15]);
    expect(await found('from', 0, 'tool:nobody')).toEqual([]);
    const unknown = { runId: 'nobody', keys: ['tool:a'], side: 'from', index: 0 } as const;
    expect(await store.readCalls(unknown)).toEqual([]);
    // If a run is saved again with fewer or other items, only the new items of the run are found.
    const shorter = [message('x'), call('a')];
    await store.saveResponse(response('run-1', [], { outputItems: shorter, lastSeq: 9 }));
    const all = await store.readCalls({ ...unknown, runId: 'run-1' });
    expect(all.map(({ index, item }) => [index, item.id])).toEqual([[1, 'call:a']]);
  });

  test('have every item and every run together, whatever the sizes', async () => {
    const sizes = fc.array(fc.nat({ max: 7 }), { maxLength: 8 });
    const property = fc.asyncProperty(sizes, fc.integer({ min: 1, max: 9 }), async (of, limit) => {
      await store.deleteSession('session-1');
      const runs = of.map((size, at) => response(`run-${at}`, Array(size).fill('x')));
      await store.importResponses(runs);
      const pages = (await readAllPages(store, 'session-1', limit)).toReversed();
      const places = runs.flatMap(({ id, outputItems }) => outputItems.map((_, i) => `${id}:${i}`));
      expect(pages.flatMap((page) => page.places)).toEqual(places);
      expect([...new Set(pages.flatMap(({ heads }) => heads))]).toEqual(runs.map(({ id }) => id));
      for (const page of pages.slice(1)) expect(page.places).toHaveLength(limit);
    });
    await fc.assert(property, { numRuns: amountOf(extent, { whole: 60, part: 15 }) });
  });
}
