import { maxItemSize, sizeOf } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { foldTurn, itemsOf } from '../../../testing/folding.ts';
import { recordTurn, startTranslator, timestamp } from './testing/recorded-translator.ts';

const call = (toolCallId: string, fields: object = {}) => ({
  sessionUpdate: 'tool_call',
  toolCallId,
  title: 'Run',
  ...fields,
});
const update = (toolCallId: string, fields: object) => ({
  sessionUpdate: 'tool_call_update',
  toolCallId,
  ...fields,
});

/** Returns a list so deep that its indentation is longer than its content. */
function deepList(leaves: number): unknown {
  let value: unknown = Array.from({ length: leaves }, (_, n) => n % 10);
  for (let level = 0; level < 150; level += 1) value = [value];
  return value;
}

test('SAFE: a deep raw output with many leaves is not made larger by indentation', () => {
  const rawOutput = deepList(60_000);
  const { drafts } = recordTurn([call('c'), update('c', { status: 'completed', rawOutput })]);
  const said = JSON.stringify(rawOutput).length;
  const [output] = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
  expect(output?.output.length).toBeLessThan(1.1 * said);
  // Small outputs are indented for people.
  const small = recordTurn([call('c'), update('c', { status: 'completed', rawOutput: { a: 1 } })]);
  expect(itemsOf(foldTurn(small.drafts, 'turn'), 'function_call_output')[0]?.output).toBe(
    '{\n  "a": 1\n}',
  );
});

test('SAFE: if too many calls are open at once, the oldest ends as failed', () => {
  const { drafts } = recordTurn(Array.from({ length: 1_003 }, (_, n) => call(`c${n}`)));
  const outputs = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
  expect(outputs).toHaveLength(1_003);
  const said = Map.groupBy(outputs, ({ output }) => output);
  expect(said.get('More than 1000 calls were open at once.')?.map(({ callId }) => callId)).toEqual([
    'c0',
    'c1',
    'c2',
  ]);
});

test('SAFE: output that grows past an item’s limit is cut once, and does not begin again', () => {
  const long = 'x'.repeat(maxItemSize + 1_000);
  const say = (text: string) =>
    update('c', {
      status: 'in_progress',
      content: [{ type: 'content', content: { type: 'text', text } }],
    });
  const { drafts } = recordTurn([call('c'), say(long), say(`${long}y`), say(`${long}yz`)]);
  const size = drafts.reduce((sum, { payload }) => sum + sizeOf(payload, Infinity), 0);
  expect(size).toBeLessThan(2.1 * maxItemSize);
  const outputs = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
  expect(outputs).toHaveLength(1);
  expect(outputs[0]?.output).toMatch(/^x+\.\.\. \(cut here: too long\)$/);
});

test('SAFE: only a limited number of announcements of a failed call are held back; then all are read', () => {
  const again = Array.from({ length: 1_000 }, () => call('c', { status: 'pending' }));
  const { drafts } = recordTurn([call('c'), update('c', { status: 'failed' }), ...again]);
  expect(itemsOf(foldTurn(drafts, 'turn'), 'function_call')).toHaveLength(2);
});

test('SAFE: the newest calls of past turns are remembered: their late updates begin no turn', () => {
  const { drafts, translator } = startTranslator();
  for (let turn = 0; turn < 12; turn += 1) {
    translator.begin(`t${turn}`, 'Go.', timestamp);
    for (let n = 0; n < 1_000; n += 1) translator.read(call(`${turn}:${n}`), timestamp);
    translator.finish({ stopReason: 'end_turn' }, timestamp);
  }
  const count = drafts.length;
  translator.read(update('11:0', { status: 'completed' }), timestamp);
  expect(drafts).toHaveLength(count);
  // Older calls are forgotten: late updates come soon after the turn.
  translator.read(update('10:999', { status: 'completed' }), timestamp);
  expect(drafts.length).toBeGreaterThan(count);
});
