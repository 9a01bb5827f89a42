import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StreamEvent } from '../events.ts';
import { responseToUpserts } from '../folds/history.ts';
import { emptyResponse, foldResponse, toResponse } from '../folds/response.ts';
import type { Response } from '../response.ts';
import { eventScripts } from '../testing/event-scripts.ts';
import { completed, messageDone } from '../testing/payloads.ts';
import { runOf } from '../testing/run-of.ts';
import type { ExportPart } from './read-export.ts';
import { readExport } from './read-export.ts';
import { rebuildEvents } from './rebuild-events.ts';

const fold = (events: readonly StreamEvent[]): Response =>
  toResponse(events.reduce(foldResponse, emptyResponse()))!;

const header = {
  liminal: 'export',
  version: 1,
  exportedAt: '2026-01-01T00:00:00.000Z',
  versions: { liminal: '0.1.0' },
};
const session = {
  type: 'session',
  sessionId: 's1',
  cliType: 'demo',
  projectId: '/p',
  projectDir: '/p',
  title: 'Hello',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const events = runOf([
  { type: 'response_start', modelId: 'm', providerId: 'p' },
  messageDone('u1', 'Hi', 'user'),
  messageDone('a1', 'Hello.'),
  completed,
]);
const { outputItems, ...run } = fold(events);
const items = outputItems.map((item) => ({ type: 'item', item }));
const logged = events.map(({ timestamp, payload }) => ({ type: 'event', timestamp, payload }));
const end = { type: 'end', runs: 1, blobs: 0, secrets: {} };
const whole: readonly object[] = [
  header,
  session,
  { type: 'run', items: 2, events: 4, run },
  ...items,
  ...logged,
  end,
];

const textOf = (lines: readonly object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');

async function* pieces(text: string, size = 50): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function read(text: string, size?: number): Promise<ExportPart[]> {
  return Array.fromAsync(readExport(pieces(text, size)));
}

test('a file is read in parts, whatever the size of the pieces in which it arrives', async () => {
  for (const size of [1, 7, 100_000]) {
    const parts = await read(textOf(whole), size);
    expect(parts).toEqual([
      { type: 'header', header },
      { type: 'session', session },
      { type: 'run', run: { ...run, outputItems }, events },
      { type: 'end', end },
    ]);
  }
  // A file may lack the line end of its last line.
  expect(await read(textOf(whole).trimEnd())).toHaveLength(4);
});

const blob = { type: 'blob', hash: 'a'.repeat(64), mimeType: 'image/png', data: 'AAAA' };
const run2 = { ...run, id: 'run-2', turnId: 'run-2' };

test('blobs come before the run that refers to them, and a run without events is accepted', async () => {
  const { traceContext: _, ...untraced } = run;
  const lines = [
    header,
    session,
    blob,
    { type: 'run', items: 0, run: run2 },
    { type: 'run', items: 2, events: 4, run: untraced },
    ...items,
    ...logged,
    { ...end, runs: 2, blobs: 1 },
  ];
  const [, , file, first, second] = await read(textOf(lines));
  expect(file).toEqual({ type: 'blob', blob });
  expect(first).toEqual({ type: 'run', run: { ...run2, outputItems: [] } });
  // An all-zero trace, which readers ignore.
  const traceContext = { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00` };
  expect(second).toEqual({
    type: 'run',
    run: { ...untraced, outputItems },
    events: events.map((event) => ({ ...event, traceContext })),
  });
});

const wrongTime = {
  ...items[0],
  item: { ...outputItems[0], startedAt: '+300000-01-01T00:00:00Z' },
};

test.each<[string, string | readonly object[], RegExp]>([
  ['a missing blob', [...whole.slice(0, -1), { ...end, blobs: 1 }], /other runs or files/],
  [
    'a blob that is too large',
    [header, session, { ...blob, data: 'A'.repeat(28_000_000) }],
    /line 3 has a file that is too large/,
  ],
  ['a damaged header', whole.with(0, { ...header, versions: 7 }), /line 1 has a damaged header/],
  ['a second session', whole.toSpliced(2, 0, session), /line 3 is out of order/],
  [
    'a run with too many lines',
    whole.with(2, { type: 'run', items: 1, events: 10_000_000, run }),
    /line 3 has a run that is too long/,
  ],
  [
    'a wrong time of an item',
    [header, session, { type: 'run', items: 1, run }, wrongTime],
    /line 4 (ends a run with invalid times|has a wrong shape)/,
  ],
  [
    'a wrong shape deep in an item',
    whole.with(3, { type: 'item', item: { ...outputItems[0], origin: 7 } }),
    /line 4 has a wrong shape at item\.origin: ./,
  ],
  ['an empty file', '', /empty/],
  ['a file of another format', 'PK\u0003\u0004', /not a file of liminal export/],
  ['JSON of another format', [{ a: 1 }], /not a file of liminal export/],
  ['a newer format', [{ ...header, version: 2, more: 1 }], /newer Liminal \(format 2/],
  ['no session', [header, end], /line 2 must be the session/],
  ['a file that is cut off', whole.slice(0, -1), /cut off/],
  [
    'a file that is cut off within a line',
    textOf(whole).slice(0, -20),
    /line 10 is not JSON, or .* cut off/,
  ],
  ['a missing item', whole.toSpliced(3, 1), /must be an item of the run/],
  ['a missing event', whole.toSpliced(6, 1), /must be an event of the run/],
  ['a missing run', [header, session, end], /other runs/],
  ['a line after the end line', [...whole, end], /has lines after its end line/],
  ['a wrong shape', whole.with(1, { ...session, title: 7 }), /line 2 has a wrong shape at title/],
  [
    'a wrong time',
    whole.with(2, { type: 'run', items: 0, run: { ...run, createdAt: 1e300 } }),
    /times/,
  ],
  [
    'a wrong number of events',
    whole.with(2, { type: 'run', items: 2, events: 5, run }),
    /wrong number of events/,
  ],
  ['a line of another kind', whole.toSpliced(2, 0, { type: 'joke' }), /wrong shape at type/],
  [
    'an item that is nested too deeply',
    whole.with(3, {
      type: 'item',
      item: { raw: JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`) },
    }),
    /nested deeper/,
  ],
])('an invalid file is refused with a sentence: %s', async (_, lines, sentence) => {
  const reading = read(typeof lines === 'string' ? lines : textOf(lines));
  await expect(reading).rejects.toMatchObject({
    code: 'EXPORT_UNREADABLE',
    message: expect.stringMatching(sentence),
  });
});

test('a text of another format is refused after its first pieces', async () => {
  let given = 0;
  async function* endless(): AsyncGenerator<string> {
    for (const piece = 'x'.repeat(64 * 1024); ; given += 1) yield piece;
  }
  await expect(Array.fromAsync(readExport(endless()))).rejects.toThrow(
    /its first line is too long/,
  );
  expect(given).toBe(16);
});

test('a line that never ends is refused before it fills the memory', async () => {
  let given = 0;
  async function* endless(): AsyncGenerator<string> {
    yield textOf([header, session]);
    for (const piece = 'x'.repeat(16 * 1024 * 1024); ; given += 1) yield piece;
  }
  await expect(Array.fromAsync(readExport(endless()))).rejects.toThrow(/line 3 is too long/);
  expect(given).toBeLessThan(10);
});

test('the events that are rebuilt from a run fold to the same run', () => {
  fc.assert(
    fc.property(eventScripts(), (script) => {
      const known = fold(script);
      const rebuilt = rebuildEvents(known);
      const { lastSeq: _, ...again } = fold(rebuilt);
      const { lastSeq: __, ...before } = known;
      expect(again).toEqual(before);
      expect(responseToUpserts(fold(rebuilt), '')).toEqual(responseToUpserts(known, ''));
      const times = rebuilt.map(({ timestamp }) => timestamp);
      expect(times).toEqual(times.toSorted());
    }),
  );
});

test('a rebuilt text grows evenly between the item’s start and end, and is cut between words', () => {
  const [first] = outputItems;
  const item = {
    ...first!,
    startedAt: '2026-01-01T00:00:00.000Z',
    endedAt: '2026-01-01T00:00:01.000Z',
    content: 'One 👩‍👩‍👧 two three four five six seven eight nine ten eleven',
  };
  const rebuilt = rebuildEvents({ ...run, outputItems: [item], updatedAt: run.createdAt + 2000 });
  const deltas = rebuilt.flatMap(({ payload }) =>
    payload.type === 'item_delta' ? payload.deltaContent : [],
  );
  expect(deltas).toHaveLength(10);
  expect(deltas.join('')).toBe(item.content);
});

/** The payloads of the events that are rebuilt from the test's run with these fields changed. */
const rebuiltOf = (change: Partial<Response>) =>
  rebuildEvents({ ...run, outputItems: [], ...change }).map(({ payload }) => payload);

test('a running run is rebuilt without an end; an ended run is rebuilt with its end', () => {
  const usage = { inputTokens: 1, outputTokens: 2 };
  const error = { code: 'E', message: 'It broke.' };
  const first = { type: 'response_start', modelId: 'm', providerId: 'p', trigger: run.trigger };
  const endOf = (change: Partial<Response>) => {
    const [start, ...rest] = rebuiltOf({ usage: undefined, error: undefined, ...change });
    expect(start).toEqual(first);
    return rest;
  };
  expect(endOf({ status: 'in_progress', finishReason: null })).toEqual([]);
  expect(endOf({ status: 'queued', finishReason: null })).toEqual([]);
  expect(endOf({ status: 'error', finishReason: null, error, usage })).toEqual([
    { type: 'response_error', error, usage },
  ]);
  expect(endOf({ status: 'error', finishReason: null })).toEqual([
    { type: 'response_done', status: 'error' },
  ]);
  expect(endOf({ status: 'error', finishReason: 'refusal', error })).toEqual([
    { type: 'response_done', status: 'error', finishReason: 'refusal', error },
  ]);
  expect(endOf({ status: 'complete', finishReason: 'end_turn', usage })).toEqual([
    { type: 'response_done', status: 'completed', finishReason: 'end_turn', usage },
  ]);
  expect(endOf({ status: 'aborted', finishReason: null })).toEqual([
    { type: 'response_done', status: 'cancelled' },
  ]);
});

test('an item is rebuilt with its type and times', () => {
  const at = (ms: number): string => new Date(run.createdAt + ms).toISOString();
  const times = { startedAt: at(500), endedAt: at(1500) };
  const lives = (item: Response['outputItems'][number]) =>
    rebuildEvents({ ...run, outputItems: [item], updatedAt: run.createdAt + 2000 })
      .slice(1, -1)
      .map(({ timestamp, payload }) => [Date.parse(timestamp) - run.createdAt, payload]);
  const said = { id: 'a', type: 'message', origin: 'user', content: '  ' } as const;
  const begun = { type: 'item_start', itemId: 'a', itemType: 'message', origin: 'user' };
  expect(lives({ ...said, ...times })).toEqual([
    [500, expect.objectContaining(begun)],
    [1000, { type: 'item_delta', itemId: 'a', deltaContent: '  ' }],
    [1500, { type: 'item_done', itemId: 'a', finalItem: said }],
  ]);
  const thought = { id: 'b', type: 'reasoning', origin: 'agent', content: '' } as const;
  // An item that never ended stays open; its text grows until the time at which the run was stored.
  expect(lives({ ...thought, startedAt: at(0) })).toEqual([
    [0, expect.objectContaining({ type: 'item_start', itemType: 'reasoning', origin: 'agent' })],
  ]);
  const printed = {
    id: 'c',
    type: 'script_execution_output',
    scriptId: 's',
    result: 'one two ',
    success: true,
    origin: 'system',
  } as const;
  const [start, ...rest] = lives({ ...printed, startedAt: at(0), endedAt: at(300) });
  expect(start).toEqual([0, expect.objectContaining({ callId: 's', origin: undefined })]);
  expect(rest).toEqual([
    [100, { type: 'item_delta', itemId: 'c', deltaContent: 'one' }],
    [200, { type: 'item_delta', itemId: 'c', deltaContent: ' two ' }],
    [300, { type: 'item_done', itemId: 'c', finalItem: printed }],
  ]);
});
