import { expect, test } from 'vitest';
import { foldTurn, itemsOf, saidIn } from '../../testing/folding.ts';
import { turnOf } from './testing/hearing.ts';

const compaction = (fields: object) => ({
  sessionUpdate: 'compaction_update',
  compactionId: 'k',
  ...fields,
});
const chunk = (text: string) => ({
  sessionUpdate: 'compaction_summary_chunk',
  compactionId: 'k',
  content: { type: 'text', text },
});
const text = (words: string) => ({ type: 'text', text: words });

/** The messages that tell of compactions, as they end. */
const told = (...updates: unknown[]) =>
  itemsOf(foldTurn(turnOf(updates), 'turn'), 'message').slice(1);
const words = (...updates: unknown[]) => told(...updates).map(({ content }) => content);

const summarised = 'The conversation so far was summarised to make room.';

test('a compaction is a message of the system, with its summary as it grows', () => {
  const drafts = turnOf([
    compaction({ status: 'in_progress' }),
    chunk('We '),
    chunk('talked.'),
    compaction({ status: 'completed', summary: null }),
    compaction({ compactionId: 'l', status: 'failed', error: 'No room.' }),
  ]);
  const grown = drafts.flatMap(({ payload }) =>
    payload.type === 'item_delta' ? [payload.deltaContent] : [],
  );
  expect(grown.slice(0, 3)).toEqual([
    'The conversation so far is being summarised to make room.',
    '\n\nWe ',
    'talked.',
  ]);
  expect(saidIn(foldTurn(drafts, 'turn'))).toEqual([
    ['system', `${summarised}\n\nWe talked.`],
    ['system', 'The conversation could not be summarised to make room.\n\nNo room.'],
  ]);
});

test.each([
  ['completed', 'completed'],
  ['failed', 'failed'],
  // Only a run knows of no end but its own.
  ['cancelled', 'in_progress'],
])('programs learn that one is %s', (status, compactionIs) => {
  expect(told(compaction({ status }))).toMatchObject([{ compaction: compactionIs }]);
  expect(turnOf([compaction({ status: 'in_progress' })])).toContainEqual(
    expect.objectContaining({
      payload: expect.objectContaining({ type: 'item_start', compaction: 'in_progress' }),
    }),
  );
});

test('what an agent says as Liminal does is not said twice', () => {
  const ended = 'The conversation so far was summarised to make room (on request).';
  expect(words(compaction({ status: 'completed', summary: [text(ended)] }))).toEqual([ended]);
  const failed = 'The conversation could not be summarised to make room.\n\nNo room.';
  expect(words(compaction({ status: 'failed', error: failed }))).toEqual([failed]);
});

test('a summary that is told whole stands for what was told of it before', () => {
  const whole = compaction({ status: 'completed', summary: [text('We '), text('talked.')] });
  expect(words(chunk('We'), whole)).toEqual([`${summarised}\n\nWe talked.`]);
});

test('one that is broken off keeps its summary so far', () => {
  expect(words(chunk('We '), compaction({ status: 'cancelled' }))).toEqual([
    'The summary of the conversation was broken off.\n\nWe ',
  ]);
});

test('one that never ends shows how far it came', () => {
  expect(words(compaction({}), chunk(''), chunk('We'))).toEqual([
    'The conversation so far is being summarised to make room.\n\nWe',
  ]);
});

test('one that begins under an id that has been used is another', () => {
  const done = compaction({ status: 'completed' });
  expect(words(done, done)).toEqual([summarised, summarised]);
});

test('those of several ids go on side by side', () => {
  const other = { compactionId: 'l' };
  const begun = [compaction({}), compaction(other), chunk('We talked.')];
  const ended = [compaction({ ...other, status: 'failed' }), compaction({ status: 'completed' })];
  expect(words(...begun, ...ended).toSorted()).toEqual([
    'The conversation could not be summarised to make room.',
    `${summarised}\n\nWe talked.`,
  ]);
});

test('one without an id is told all the same', () => {
  const update = { sessionUpdate: 'compaction_update', status: 'completed' };
  expect(words(update)).toEqual([summarised]);
});

test.each(['of_tomorrow', 'constructor'])('the status %s is no end', (status) => {
  const updates = [compaction({ status, error: 'Slow.' }), compaction({ status: 'completed' })];
  expect(told(...updates)).toMatchObject([{ content: summarised, raw: [{ error: 'Slow.' }] }]);
});

test('what nobody knows of it stays with it, and so does what a summary says but in words', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AA==', annotations: { x: 1 } };
  const odd = { type: 'hologram' };
  const noted = { ...text('We talked.'), annotations: { x: 2 } };
  const [message] = told(
    compaction({ status: 'completed', summary: [image, noted, odd], tone: 3 }),
  );
  expect(message).toMatchObject({
    content: `${summarised}\n\nWe talked.`,
    raw: [{ tone: 3 }, image, { annotations: { x: 2 } }, odd],
  });
});

test('one that tells nothing odd keeps nothing', () => {
  const [message] = told(chunk('We talked.'), compaction({ status: 'completed' }));
  expect(message).not.toHaveProperty('raw');
});
