import { expect, test } from 'vitest';
import { foldTurn, itemsOf } from '../../../testing/folding.ts';
import { startTranslator, timestamp, turnOf } from './testing/recorded-translator.ts';

const call = (toolCallId: string, fields: object = {}) => ({
  sessionUpdate: 'tool_call',
  toolCallId,
  title: 'Look',
  ...fields,
});
const update = (toolCallId: string, fields: object) => ({
  sessionUpdate: 'tool_call_update',
  toolCallId,
  ...fields,
});
const say = (text: string) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
});
const hear = (...updates: unknown[]) => foldTurn(turnOf(updates), 'turn');

test('if a failed call has begun again, its later updates change the call', () => {
  const failed = update('c', { status: 'failed' });
  const response = hear(call('c'), failed, call('c', { title: 'Look again' }), call('c'));
  expect(itemsOf(response, 'function_call').map(({ title }) => title)).toEqual(['Look', 'Look']);
});

test('a late update of a call that ended in this turn is kept with the nearest message', () => {
  const { translator, drafts, send } = startTranslator();
  translator.begin('one', 'First.', timestamp);
  send(call('c'));
  translator.begin('two', 'Second.', timestamp);
  send(call('c'), update('c', { status: 'completed' }), say('Done.'));
  const late = update('c', { status: 'completed', rawOutput: 'late' });
  send(late, { ...say('Hm.'), sessionUpdate: 'agent_thought_chunk' });
  translator.finish({ stopReason: 'end_turn' }, timestamp);
  const [, words] = itemsOf(foldTurn(drafts, 'two'), 'message');
  expect(words).toMatchObject({ content: 'Done.', raw: [late] });
});

test('a late update of an earlier turn’s call begins no call in the running turn', () => {
  const { translator, drafts, send } = startTranslator();
  translator.begin('one', 'First.', timestamp);
  send(call('c'));
  translator.begin('two', 'Second.', timestamp);
  const late = update('c', { status: 'completed' });
  send(say('Done.'), late);
  translator.finish({ stopReason: 'end_turn' }, timestamp);
  expect(foldTurn(drafts, 'two').outputItems.slice(1)).toMatchObject([
    { content: 'Done.', raw: [late] },
  ]);
});

test('a call that reuses an earlier turn’s call id is updated in its own turn', () => {
  const { translator, drafts, send } = startTranslator();
  translator.begin('one', 'First.', timestamp);
  send(call('c'));
  translator.begin('two', 'Second.', timestamp);
  send(call('c'), update('c', { status: 'completed', rawOutput: 'found' }));
  expect(itemsOf(foldTurn(drafts, 'two'), 'function_call_output')).toMatchObject([
    { callId: 'c', output: 'found', success: true },
  ]);
});

test('a terminal’s output is added only to the call that shows the terminal', () => {
  const { translator, drafts, send } = startTranslator();
  translator.begin('turn', 'Do it.', timestamp);
  const shows = (terminalId: string) => ({ content: [{ type: 'terminal', terminalId }] });
  send(call('a', shows('t1')), call('b', shows('t2')));
  translator.terminalOutput('t2', 'hi', timestamp);
  translator.finish({ stopReason: 'end_turn' }, timestamp);
  const outputs = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
  expect(outputs.map(({ callId, output }) => [callId, output])).toEqual([
    ['b', 'hi'],
    ['a', 'The turn ended before this call finished.'],
  ]);
});
