import { expect, test } from 'vitest';
import { foldTurn, itemsOf } from '../../../testing/folding.ts';
import { turnOf } from './testing/recorded-translator.ts';

const call = (fields: object = {}) => ({
  sessionUpdate: 'tool_call',
  toolCallId: 'c',
  title: 'Look',
  ...fields,
});
const update = (fields: object = {}) => ({
  ...call({ title: undefined, ...fields }),
  sessionUpdate: 'tool_call_update',
});
const failed = update({ status: 'failed' });
const words = [{ type: 'content', content: { type: 'text', text: 'Found.' } }];

/** How many calls are shown when a call fails, is announced again, and then gets these updates. */
const callsAfter = (...updates: unknown[]) =>
  itemsOf(foldTurn(turnOf([call(), failed, call(), ...updates]), 'turn'), 'function_call').length;

test.each([
  ['nothing', []],
  ['an announcement with nothing new', [call({ status: 'in_progress' })]],
  ['an update with nothing new', [update({ title: 'Look' })]],
  ['an announcement, an update and its failure', [call(), update(), failed]],
])(
  'if a failed call is announced again and this follows, the two announcements are one call: %s',
  (_name, updates) => {
    expect(callsAfter(...updates)).toBe(1);
  },
);

test.each([
  ['text', update({ content: words })],
  ['raw output', update({ rawOutput: 'Found.' })],
  ['text in an announcement', call({ content: words })],
  ['raw output in an announcement', call({ rawOutput: 'Found.' })],
  ['a state', update({ status: 'in_progress' })],
])('if a failed call is announced again and gets %s, it becomes a second call', (_name, update) => {
  expect(callsAfter(update)).toBe(2);
});

test('updates that were held back are read in their order', () => {
  const updates = [
    call(),
    failed,
    call(),
    update({ title: 'Look here' }),
    update({ rawOutput: 'Found.' }),
  ];
  const response = foldTurn(turnOf([...updates, update({ status: 'completed' })]), 'turn');
  expect(itemsOf(response, 'function_call').at(-1)).toMatchObject({ title: 'Look here' });
  expect(itemsOf(response, 'function_call_output')).toMatchObject([
    { success: false },
    { output: 'Found.', success: true },
  ]);
});

test('a failed call stays failed even if it is announced as completed', () => {
  const response = foldTurn(turnOf([call(), failed, call({ status: 'completed' })]), 'turn');
  expect(itemsOf(response, 'function_call')).toHaveLength(1);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
});

test('a call that a Stop has ended is shown once, even if it is announced again with fewer fields', () => {
  // Recorded from Droid 0.215.
  const input = { command: 'sleep 97', riskLevel: 'low' };
  const sleep = call({ title: 'sleep 97; echo never', kind: 'execute', rawInput: input });
  const again = call({ title: 'Tool call', kind: 'other', status: 'pending', rawInput: {} });
  const text = 'Error: Tool execution cancelled by user';
  const content = [{ type: 'content', content: { type: 'text', text } }];
  const cancelled = update({ status: 'failed', rawOutput: { text }, content });
  const response = foldTurn(turnOf([sleep, failed, again, cancelled]), 'turn');
  expect(itemsOf(response, 'function_call')).toMatchObject([{ title: 'sleep 97; echo never' }]);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
});
