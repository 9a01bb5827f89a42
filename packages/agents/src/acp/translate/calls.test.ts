import { expect, test } from 'vitest';
import { foldTurn, itemsOf } from '../../testing/folding.ts';
import { startHearing, timestamp, turnOf } from './testing/hearing.ts';

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

test('a call that began anew after it had failed goes on as it is told', () => {
  const failed = update('c', { status: 'failed' });
  const response = hear(call('c'), failed, call('c', { title: 'Look again' }), call('c'));
  expect(itemsOf(response, 'function_call').map(({ title }) => title)).toEqual(['Look', 'Look']);
});

test('late news of a call that ended in this turn stay with the words that they come in', () => {
  const { translator, drafts, hear: told } = startHearing();
  translator.begin('one', 'First.', timestamp);
  told(call('c'));
  translator.begin('two', 'Second.', timestamp);
  told(call('c'), update('c', { status: 'completed' }), say('Done.'));
  const late = update('c', { status: 'completed', rawOutput: 'late' });
  told(late, { ...say('Hm.'), sessionUpdate: 'agent_thought_chunk' });
  translator.finish({ stopReason: 'end_turn' }, timestamp);
  const [, words] = itemsOf(foldTurn(drafts, 'two'), 'message');
  expect(words).toMatchObject({ content: 'Done.', raw: [late] });
});

test('late news of a call of an earlier turn begin no call in a turn that runs', () => {
  const { translator, drafts, hear: told } = startHearing();
  translator.begin('one', 'First.', timestamp);
  told(call('c'));
  translator.begin('two', 'Second.', timestamp);
  const late = update('c', { status: 'completed' });
  told(say('Done.'), late);
  translator.finish({ stopReason: 'end_turn' }, timestamp);
  expect(foldTurn(drafts, 'two').outputItems.slice(1)).toMatchObject([
    { content: 'Done.', raw: [late] },
  ]);
});

test('a call under the id of one in an earlier turn is heard in its own', () => {
  const { translator, drafts, hear: told } = startHearing();
  translator.begin('one', 'First.', timestamp);
  told(call('c'));
  translator.begin('two', 'Second.', timestamp);
  told(call('c'), update('c', { status: 'completed', rawOutput: 'found' }));
  expect(itemsOf(foldTurn(drafts, 'two'), 'function_call_output')).toMatchObject([
    { callId: 'c', output: 'found', success: true },
  ]);
});

test('a terminal’s words grow the call that shows it, and no other', () => {
  const { translator, drafts, hear: told } = startHearing();
  translator.begin('turn', 'Do it.', timestamp);
  const shows = (terminalId: string) => ({ content: [{ type: 'terminal', terminalId }] });
  told(call('a', shows('t1')), call('b', shows('t2')));
  translator.terminalOutput('t2', 'hi', timestamp);
  translator.finish({ stopReason: 'end_turn' }, timestamp);
  const outputs = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
  expect(outputs.map(({ callId, output }) => [callId, output])).toEqual([
    ['b', 'hi'],
    ['a', 'The turn ended before this finished.'],
  ]);
});
