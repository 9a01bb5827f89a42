import { expect, test } from 'vitest';
import { foldTurn, itemsOf, textsIn } from '../../../testing/folding.ts';
import { turnOf } from './testing/recorded-translator.ts';

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

/** The final messages about compactions. */
const messages = (...updates: unknown[]) =>
  itemsOf(foldTurn(turnOf(updates), 'turn'), 'message').slice(1);
const words = (...updates: unknown[]) => messages(...updates).map(({ content }) => content);

const summarised = 'The conversation so far was summarised to make room.';

test('a compaction is a system message that streams its summary', () => {
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
  expect(textsIn(foldTurn(drafts, 'turn'))).toEqual([
    ['system', `${summarised}\n\nWe talked.`],
    ['system', 'The conversation could not be summarised to make room.\n\nNo room.'],
  ]);
});

test.each([
  ['completed', 'completed'],
  ['failed', 'failed'],
  // The field “compaction” has no value for a cancelled compaction.
  ['cancelled', 'in_progress'],
])('the status %s sets the field “compaction” of the message', (status, compactionIs) => {
  expect(messages(compaction({ status }))).toMatchObject([{ compaction: compactionIs }]);
  expect(turnOf([compaction({ status: 'in_progress' })])).toContainEqual(
    expect.objectContaining({
      payload: expect.objectContaining({ type: 'item_start', compaction: 'in_progress' }),
    }),
  );
});

test('Liminal’s own sentence is not added if the agent’s text begins with that sentence', () => {
  const ended = 'The conversation so far was summarised to make room (on request).';
  expect(words(compaction({ status: 'completed', summary: [text(ended)] }))).toEqual([ended]);
  const failed = 'The conversation could not be summarised to make room.\n\nNo room.';
  expect(words(compaction({ status: 'failed', error: failed }))).toEqual([failed]);
});

test('a whole summary replaces its chunks', () => {
  const whole = compaction({ status: 'completed', summary: [text('We '), text('talked.')] });
  expect(words(chunk('We'), whole)).toEqual([`${summarised}\n\nWe talked.`]);
});

test('a cancelled compaction keeps its summary so far', () => {
  expect(words(chunk('We '), compaction({ status: 'cancelled' }))).toEqual([
    'The summary of the conversation was broken off.\n\nWe ',
  ]);
});

test('a compaction that never ends shows the summary that has arrived', () => {
  expect(words(compaction({}), chunk(''), chunk('We'))).toEqual([
    'The conversation so far is being summarised to make room.\n\nWe',
  ]);
});

test('a compaction that reuses an id is a new message', () => {
  const done = compaction({ status: 'completed' });
  expect(words(done, done)).toEqual([summarised, summarised]);
});

test('compactions with different ids run side by side', () => {
  const other = { compactionId: 'l' };
  const begun = [compaction({}), compaction(other), chunk('We talked.')];
  const ended = [compaction({ ...other, status: 'failed' }), compaction({ status: 'completed' })];
  expect(words(...begun, ...ended).toSorted()).toEqual([
    'The conversation could not be summarised to make room.',
    `${summarised}\n\nWe talked.`,
  ]);
});

test('a compaction without an id is shown', () => {
  const update = { sessionUpdate: 'compaction_update', status: 'completed' };
  expect(words(update)).toEqual([summarised]);
});

test.each(['of_tomorrow', 'constructor'])('the status %s does not end a compaction', (status) => {
  const updates = [compaction({ status, error: 'Slow.' }), compaction({ status: 'completed' })];
  expect(messages(...updates)).toMatchObject([{ content: summarised, raw: [{ error: 'Slow.' }] }]);
});

test('unknown fields and the parts of a summary that are not text are kept with the message', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AA==', annotations: { x: 1 } };
  const odd = { type: 'hologram' };
  const noted = { ...text('We talked.'), annotations: { x: 2 } };
  const [message] = messages(
    compaction({ status: 'completed', summary: [image, noted, odd], tone: 3 }),
  );
  expect(message).toMatchObject({
    content: `${summarised}\n\nWe talked.`,
    raw: [{ tone: 3 }, image, { annotations: { x: 2 } }, odd],
  });
});

test('a compaction with only known fields keeps no raw values', () => {
  const [message] = messages(chunk('We talked.'), compaction({ status: 'completed' }));
  expect(message).not.toHaveProperty('raw');
});
