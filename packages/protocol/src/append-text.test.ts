import { expect, test } from 'vitest';
import { appendText } from './append-text.ts';
import { foldRun } from './testing/fold-run.ts';
import * as say from './testing/payloads.ts';

const shown = (...payloads: Parameters<typeof foldRun>[0]) =>
  foldRun(payloads, { appends: true }).upserts.at(-1)!;
const message = shown(say.text('a'), say.delta('a', 'Hel'));
const thought = shown(say.text('a', 'reasoning'), say.delta('a', 'Hel'));
const call = shown(say.call('c', 'Bash'));

test('text is added to a message and to a thought', () => {
  for (const item of [message, thought]) {
    expect(appendText(item, { at: 3, text: 'lo' })).toEqual({
      ...item,
      content: 'Hello',
      status: 'update',
    });
  }
});

test('text is appended to a tool’s output, or becomes its beginning', () => {
  const begun = appendText(call, { at: 0, text: 'one' });
  expect(begun).toEqual({ ...call, toolOutput: 'one', status: 'update' });
  expect(appendText(begun!, { at: 3, text: ' two' })).toMatchObject({ toolOutput: 'one two' });
});

test('text is not added if the existing text has another length', () => {
  for (const item of [message, thought, call]) {
    expect(appendText(item, { at: 2, text: 'lo' })).toBeUndefined();
  }
});

test('appending to an item without text is ignored', () => {
  const plan = shown({ type: 'item_start', itemId: 'p', itemType: 'plan' });
  expect(appendText(plan, { at: 0, text: 'a' })).toBeUndefined();
});
