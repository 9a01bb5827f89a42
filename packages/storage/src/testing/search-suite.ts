import type { OutputItem } from '@liminal/protocol';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ResponseStore, SearchQuery } from '../response-store.ts';
import { message, response, sessionRecord } from './records.ts';
import { amountOf, type Extent, type Setup, type SubjectUnderTest } from './subject.ts';

/** Tests the contract of every ResponseStore for search. */
export function searchSuite(setup: Setup<ResponseStore>, extent: Extent = 'whole'): void {
  let store: ResponseStore;
  let under: SubjectUnderTest<ResponseStore>;
  beforeEach(async () => {
    under = await setup();
    store = under.subject;
  });
  afterEach(() => under.teardown());

  /** The positions of hits: `runId:index`, or the session's id for a title. */
  async function found(text: string, query: Partial<SearchQuery> = {}): Promise<string[]> {
    const hits = await store.search({ text, limit: 100, ...query });
    return hits.map(({ sessionId, item }) => (item ? `${item.runId}:${item.index}` : sessionId));
  }

  async function save(id: string, items: (OutputItem | string)[], fields = {}): Promise<void> {
    const outputItems = items.map((item, index) =>
      typeof item === 'string' ? message(item, `${id}-item-${index}`) : item,
    );
    await store.saveResponse({
      ...response(id, []),
      lastSeq: items.length,
      outputItems,
      ...fields,
    });
  }

  test('finds every word in any case and with any accents, and the last word by its beginning', async () => {
    await save('run-1', ['The Café opens at NINE', 'nine lives', 'Straße nach Köln']);
    expect(await found('cafe')).toEqual(['run-1:0']);
    expect(await found('CAFÉ opens')).toEqual(['run-1:0']);
    expect(await found('nine')).toEqual(['run-1:1', 'run-1:0']);
    expect(await found('nine ope')).toEqual(['run-1:0']);
    expect(await found('ope nine')).toEqual([]);
    expect(await found('koln str')).toEqual(['run-1:2']);
    expect(await found('nine dogs')).toEqual([]);
    expect(await found('ines')).toEqual([]);
  });

  test('finds words of any script', async () => {
    const texts = [
      '我们明天开会议事',
      'Завтра встреча в офисе',
      'कल बैठक है',
      'اجتماع غدا',
      'พรุ่งนี้มีประชุม',
      '내일 회의가 있다',
      '𐐷𐐲𐐻 rare 🧵 letters',
    ];
    await save('run-1', texts);
    expect(await found('会议')).toEqual(['run-1:0']);
    expect(await found('议会')).toEqual([]);
    expect(await found('明 会')).toEqual(['run-1:0']);
    expect(await found('ВСТРЕЧА в')).toEqual(['run-1:1']);
    expect(await found('बैठक')).toEqual(['run-1:2']);
    expect(await found('غدا')).toEqual(['run-1:3']);
    expect(await found('ประชุม')).toEqual(['run-1:4']);
    expect(await found('회의')).toEqual(['run-1:5']);
    expect(await found('𐐷𐐲')).toEqual(['run-1:6']);
  });

  test('treats quotes, operators and everything else as text', async () => {
    await save('run-1', ['say "hello" AND NOT (world)', 'hello world', 'a* NEAR/2 b:c ^d {e} -f']);
    expect(await found('"hello')).toEqual(['run-1:1', 'run-1:0']);
    expect(await found('"hello" AND')).toEqual(['run-1:0']);
    expect(await found('hello -world')).toEqual(['run-1:1', 'run-1:0']);
    expect(await found('NEAR/2')).toEqual(['run-1:2']);
    for (const nothing of ['', '  ', '"', '* | & ! () :*', '\u0000', '\uD800', '🧵', "';--"]) {
      expect(await found(nothing)).toEqual([]);
    }
  });

  test('never fails on a query, and finds each text with itself as the query', async () => {
    const texts = fc.string({ unit: 'binary', maxLength: 40 });
    const property = fc.asyncProperty(texts, texts, async (text, query) => {
      await store.deleteSession('session-1');
      await save('run-1', [`${text} marker`]);
      expect(await found(`${text} marker`)).toContain('run-1:0');
      expect((await found(query)).length).toBeLessThan(2);
    });
    await fc.assert(property, { numRuns: amountOf(extent, { whole: 50, part: 20 }) });
  });

  test('finds joined words only where they are joined', async () => {
    await save('run-1', ['see src/http/index.ts', 'index of src, in http']);
    expect(await found('src/http/ind')).toEqual(['run-1:0']);
    expect(await found('src http ind')).toEqual(['run-1:1', 'run-1:0']);
  });

  test('searches all messages, thoughts and tool calls', async () => {
    await save('run-1', [
      { id: 'i0', type: 'reasoning', origin: 'agent', content: 'pondering' },
      {
        id: 'i1',
        type: 'function_call',
        origin: 'agent',
        callId: 'call-1',
        name: 'read_file',
        arguments: '{"path":"notes.md","pattern":"a\\nneedle"}',
      },
      {
        id: 'i2',
        type: 'function_call_output',
        origin: 'system',
        output: 'haystack',
        callId: 'call-1',
        success: true,
      },
      { id: 'i3', type: 'script_execution', origin: 'agent', code: 'await launch()' },
      { id: 'i4', type: 'plan', entries: [{ content: 'sow', priority: 'low', status: 'pending' }] },
      { id: 'i5', type: 'error', origin: 'system', code: 'OVERLOADED', message: 'try later' },
      { id: 'i6', type: 'approval', approvalId: 'a', title: 'May I delete?', options: [] },
    ]);
    const words = ['ponder', 'read_file', 'haystack', 'launch', 'sow', 'overloaded', 'delete'];
    for (const [index, word] of words.entries()) {
      expect(await found(word)).toEqual([`run-1:${index}`]);
    }
    expect(await found('needle')).toEqual(['run-1:1']);
    const [hit] = await store.search({ text: 'haystack', limit: 1 });
    expect(hit).toStrictEqual({
      sessionId: 'session-1',
      item: {
        runId: 'run-1',
        index: 2,
        itemId: 'i2',
        type: 'function_call_output',
        callId: 'call-1',
      },
      snippet: 'haystack',
    });
  });

  test('shows a short piece around the hit, on one line', async () => {
    const text = `${'🧵 before '.repeat(500)}the\n\nneedle  lies${' 🧵 after'.repeat(500)}`;
    await save('run-1', [text]);
    const [hit] = await store.search({ text: 'needle', limit: 1 });
    expect(hit?.snippet).toMatch(/^….*before the needle lies 🧵 after.*…$/u);
    expect(hit?.snippet.length).toBeLessThan(170);
    expect(hit?.snippet.isWellFormed()).toBe(true);
  });

  test('finds titles first, then items, newest first; all within a project, and at most the limit', async () => {
    const later = '2026-02-01T00:00:00.000Z';
    await store.saveSession(sessionRecord('session-1', { title: 'A needle' }));
    await store.saveSession(sessionRecord('session-2', { title: 'Needles', updatedAt: later }));
    const other = { title: 'Hay', projectId: 'project-2' };
    await store.saveSession(sessionRecord('session-3', other));
    await save('run-1', ['needle one', 'hay', 'needle two']);
    await save('run-2', ['needle three'], { sessionId: 'session-3' });
    await save('run-3', ['needle four'], { sessionId: 'not-stored' });
    const all = ['session-2', 'session-1', 'run-3:0', 'run-2:0', 'run-1:2', 'run-1:0'];
    expect(await found('needle')).toEqual(all);
    for (const limit of [0, 1, 3, 5]) {
      expect(await found('needle', { limit })).toEqual(all.slice(0, limit));
    }
    expect(await found('needle', { projectId: 'project-1' })).toEqual(
      all.filter((place) => !['run-2:0', 'run-3:0'].includes(place)),
    );
    expect(await found('needle', { projectId: 'project-2' })).toEqual(['run-2:0']);
    expect(await found('needle', { projectId: 'nobody' })).toEqual([]);
  });

  test('finds current items, not replaced ones, also after a restart', async () => {
    await save('run-1', ['old words', 'more old'], { status: 'in_progress' });
    await save('run-1', ['new words', 'more old', 'and new'], { lastSeq: 9 });
    store = (await under.reopen?.()) ?? store;
    expect(await found('new')).toEqual(['run-1:2', 'run-1:0']);
    expect(await found('old')).toEqual(['run-1:1']);
    await save('run-1', ['words'], { lastSeq: 10 });
    expect(await found('new')).toEqual([]);
    expect(await found('old')).toEqual([]);
    expect(await found('words')).toEqual(['run-1:0']);
    await store.saveSession(sessionRecord('session-1', { title: 'first title' }));
    await store.saveSession(sessionRecord('session-1', { title: 'second title' }));
    expect(await found('first')).toEqual([]);
    expect(await found('second')).toEqual(['session-1']);
    await store.deleteSession('session-1');
    expect(await found('words')).toEqual([]);
    expect(await found('second')).toEqual([]);
  });

  test('finds an ended item of a running run', async () => {
    const ended = { ...message('over and done', 'ended'), endedAt: '2026-01-01T00:00:00.000Z' };
    await save('run-1', [ended, 'still going'], { status: 'in_progress' });
    expect(await found('done')).toEqual(['run-1:0']);
    await save('run-1', [ended, 'still going'], { lastSeq: 9 });
    expect(await found('going')).toEqual(['run-1:1']);
  });

  test('accepts texts of any length', async () => {
    const many = Array.from({ length: 60_000 }, (_, at) => `w${at.toString(36)}`).join(' ');
    await save('run-1', [many, `${'x'.repeat(5_000)} end`, '會'.repeat(50_000)]);
    expect(await found('w1a')).toContain('run-1:0');
    expect(await found('x'.repeat(5_000))).toEqual(['run-1:1']);
    expect(await found(`${'x'.repeat(4_999)}y`)).toEqual([]);
    expect(await found('會會')).toEqual(['run-1:2']);
  });
}
