import { expect, test } from 'vitest';
import { foldTurn, itemsOf } from '../../testing/folding.ts';
import { turnOf } from './testing/hearing.ts';

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

/** How often the call is shown that has failed, is announced again, and is told of like this. */
const shownAfter = (...updates: unknown[]) =>
  itemsOf(foldTurn(turnOf([call(), failed, call(), ...updates]), 'turn'), 'function_call').length;

test.each([
  ['nothing', []],
  ['an announcement without news', [call({ status: 'in_progress' })]],
  ['an update without news', [update({ title: 'Look' })]],
  ['its failure, after such', [call(), update(), failed]],
])(
  'a call that has failed is shown once where it is announced again and then told of by %s',
  (_name, updates) => {
    expect(shownAfter(...updates)).toBe(1);
  },
);

test.each([
  ['words', update({ content: words })],
  ['raw output', update({ rawOutput: 'Found.' })],
  ['words in an announcement', call({ content: words })],
  ['raw output in an announcement', call({ rawOutput: 'Found.' })],
  ['a state', update({ status: 'in_progress' })],
])('it is shown twice where that brings %s', (_name, told) => {
  expect(shownAfter(told)).toBe(2);
});

test('what waited is read in its order', () => {
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

test('a call that has failed stays so though it is announced as completed', () => {
  const response = foldTurn(turnOf([call(), failed, call({ status: 'completed' })]), 'turn');
  expect(itemsOf(response, 'function_call')).toHaveLength(1);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
});

test('a call that a Stop has ended is shown once, though it is announced again with less than before', () => {
  // As Droid 0.215 does it.
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
