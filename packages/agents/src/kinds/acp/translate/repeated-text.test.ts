import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { periodicTexts } from '../../../testing/periodic-texts.ts';
import { readReplay } from './replay.ts';
import { foldTurn, textsIn } from '../../../testing/folding.ts';
import { recordTurn, timestamp } from './testing/recorded-translator.ts';

const chunk = (sessionUpdate: string, text: string, fields = {}): unknown => ({
  sessionUpdate,
  content: { type: 'text', text },
  ...fields,
});
const say = (text: string, fields = {}): unknown => chunk('agent_message_chunk', text, fields);
const think = (text: string): unknown => chunk('agent_thought_chunk', text);

describe('repeated text', () => {
  const said = (...updates: unknown[]): [string, string][] =>
    textsIn(foldTurn(recordTurn(updates).drafts, 'turn'));

  test('repeated text is shown unchanged: periods of 1 to 60 characters in chunks of 1 to 10', () => {
    const lost = periodicTexts.flatMap(({ period, size, text, chunks }) => {
      const shown = [
        said(...chunks.map((one) => say(one))),
        said(...chunks.map((one) => say(one, { _meta: {} }))),
        said(...chunks.map((one) => say(one, { messageId: 'm' }))),
        said(...chunks.map(think)),
      ];
      const isWhole = shown.every((items) => items.length === 1 && items[0]?.[1] === text);
      return isWhole ? [] : [{ period, size, shown }];
    });
    expect(lost).toEqual([]);
  });

  test('repeated text is shown unchanged: any repetition, in chunks of any size', () => {
    const words = fc.constantFrom('Half of it', ' and the rest.', '\n\n', 'no ', 'Do it.', 'a');
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 12 }), (chunks) => {
        expect(said(...chunks.map((one) => say(one)))).toEqual([['agent', chunks.join('')]]);
        expect(said(...chunks.map(think))).toEqual([['thought', chunks.join('')]]);
      }),
    );
  });

  test('repeated text is shown unchanged in a replayed conversation', () => {
    const lost = periodicTexts.flatMap(({ period, size, text }) => {
      const replayed = [chunk('user_message_chunk', text), think(text), say(text)].map(
        (update) => ({ update, timestamp }),
      );
      const [turn] = readReplay(replayed, { cliType: 'scripted', agentSessionId: 's' });
      const { outputItems } = foldTurn(turn?.events ?? [], 's:1');
      const shown = outputItems.map((item) => 'content' in item && item.content);
      return shown.length === 3 && shown.every((one) => one === text) ? [] : [{ period, size }];
    });
    expect(lost).toEqual([]);
  });
});
