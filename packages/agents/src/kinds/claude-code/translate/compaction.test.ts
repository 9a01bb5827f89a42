import { loadClaudeRecording } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { recordTurn, startTranslator, timestamp } from './testing/recorded-translator.ts';
import { foldTurns } from '../../../testing/folding.ts';

const summarised = 'The conversation so far was summarised to make room.';
const summarising = 'The conversation so far is being summarised to make room.';

/** The messages of each turn of a recording, at the turn's end and at a compaction's beginning. */
async function replay(name: string) {
  const { translator, drafts } = startTranslator();
  let turns = 0;
  let atFirst: unknown;
  for (const entry of (await loadClaudeRecording(name)).entries) {
    if ('sdk' in entry) translator.read(entry.sdk, timestamp);
    else if (entry.host.action === 'send') {
      translator.expect({ ...entry.host, turnId: `turn-${++turns}` });
    }
    if ('sdk' in entry && entry.sdk['status'] === 'compacting') atFirst = said(drafts).at(-1);
  }
  const items = [...foldTurns(drafts).values()].flatMap(({ outputItems }) => outputItems);
  const marks = drafts.flatMap(({ payload }) => {
    if (payload.type === 'item_start') return payload.compaction ?? [];
    const item = payload.type === 'item_done' ? payload.finalItem : undefined;
    return (item?.type === 'message' && item.compaction) || [];
  });
  return { atFirst, turns: said(drafts), items, marks };
}

const said = (drafts: Parameters<typeof foldTurns>[0]): unknown[][] =>
  [...foldTurns(drafts).values()].map(({ outputItems }) =>
    outputItems.map((item) => item.type === 'message' && `${item.origin}: ${item.content}`),
  );

test('a requested compaction is shown from its beginning to its end, with the sizes before and after', async () => {
  const { atFirst, turns } = await replay('compact');
  expect(atFirst).toEqual(['user: /compact', `system: ${summarising}`]);
  expect(turns[1]).toEqual([
    'user: /compact',
    'system: The conversation so far was summarised to make room (on request, 15 tokens before, 2,549 tokens after).',
  ]);
});

test('an automatic compaction is shown where it happens', async () => {
  const { atFirst, turns } = await replay('compact-automatic');
  expect(atFirst).toEqual(['user: Next question.', `system: ${summarising}`]);
  expect(turns[1]).toEqual([
    'user: Next question.',
    'system: The conversation so far was summarised to make room (automatically, 990,009 tokens before, 2,609 tokens after).',
    'agent: After it.',
  ]);
});

test.each([
  ['compact', 'completed'],
  ['compact-automatic', 'completed'],
  ['compact-fails', 'failed'],
])('the item of the recording %s has the status %s', async (name, status) => {
  const { items, marks } = await replay(name);
  expect(marks).toEqual(['in_progress', status]);
  expect(items).toContainEqual(expect.objectContaining({ compaction: status }));
});

test('a failed compaction shows the reason', async () => {
  const { turns } = await replay('compact-fails');
  const why = 'Error during compaction: API Error: 400 The prompt is not acceptable.';
  expect(turns[1]).toEqual([
    'user: /compact',
    `system: The conversation could not be summarised to make room.\n\n${why}`,
    `agent: ${why}`,
  ]);
});

const status = (fields: object) => ({
  type: 'system',
  subtype: 'status',
  status: null,
  ...fields,
});
const begun = status({ status: 'compacting' });
const done = status({ compact_result: 'success' });
const failed = status({ compact_result: 'failed' });
const boundary = (metadata: unknown) => ({
  type: 'system',
  subtype: 'compact_boundary',
  compact_metadata: metadata,
});

test.each([
  ['unfinished at the end of the turn', [begun, begun], [summarising]],
  ['without a boundary', [begun, done], [summarised]],
  [
    'with only its boundary',
    [boundary({ trigger: 'manual' })],
    [`${summarised.slice(0, -1)} (on request).`],
  ],
  [
    'after another compaction',
    [begun, done, begun, failed],
    [summarised, 'The conversation could not be summarised to make room.'],
  ],
  ['with an unknown trigger', [begun, done, boundary({ trigger: 'moon' })], [summarised]],
  ['with impossible counts', [boundary({ pre_tokens: -1, post_tokens: 'x' })], [summarised]],
  ['without details', [boundary(undefined)], [summarised]],
])('a compaction %s is shown', (_name, messages, words) => {
  const { outputItems } = recordTurn(...messages);
  expect(outputItems.map((item) => 'content' in item && item.content)).toEqual(words);
});

test('a compaction between turns begins no turn, and the next turn shows its end', () => {
  const { translator, drafts, send } = startTranslator();
  send(begun, done, boundary({}));
  expect(drafts).toEqual([]);
  send(status({ status: 'requesting' }));
  translator.end({ type: 'response_done', status: 'completed' }, timestamp);
  expect(said(drafts)).toEqual([[`system: ${summarised}`]]);
});
