import { expect, test } from 'vitest';
import { readReplay } from './replay.ts';
import { brokenRules, foldTurn, itemsOf, textsIn } from '../../../testing/folding.ts';
import { timestamp } from './testing/recorded-translator.ts';

const chunk =
  (sessionUpdate: string) =>
  (text: string, messageId?: string): unknown => ({
    sessionUpdate,
    content: { type: 'text', text },
    ...(messageId !== undefined && { messageId }),
  });
const user = chunk('user_message_chunk');
const say = chunk('agent_message_chunk');
const think = chunk('agent_thought_chunk');

const replay = (updates: readonly unknown[]) =>
  readReplay(
    updates.map((update) => ({ update, timestamp })),
    { cliType: 'scripted', agentSessionId: 'agent-session' },
  );

/** Returns the turns as history stores them. */
const turnsOf = (updates: readonly unknown[]) =>
  replay(updates).map(({ turnId, events }) => foldTurn(events, turnId));

const wordsOf = (updates: readonly unknown[]) =>
  turnsOf(updates).map(({ outputItems }) =>
    outputItems.map((item) => ('content' in item ? item.content : item.type)),
  );

test('a user’s message begins a turn, which ends before the next turn begins', () => {
  const turns = replay([user('One?'), say('One.'), user('Two?'), think('Hm.'), say('Two.')]);
  expect(turns.map(({ turnId }) => turnId)).toEqual(['agent-session:1', 'agent-session:2']);
  expect(turns.map(({ events }) => brokenRules(events.map(({ payload }) => payload)))).toEqual([
    [],
    [],
  ]);
  const [first, second] = turns.map(({ turnId, events }) => foldTurn(events, turnId));
  expect(first).toMatchObject({ status: 'complete', finishReason: 'end_turn' });
  expect(second).toMatchObject({ status: 'complete', trigger: 'user', providerId: 'scripted' });
  expect(second?.outputItems[0]).toMatchObject({ content: 'Two?', origin: 'user' });
  expect(textsIn(second!)).toEqual([
    ['thought', 'Hm.'],
    ['agent', 'Two.'],
  ]);
});

test('a message that Qwen Code marks as sent to a running turn begins no turn', () => {
  const steered = {
    ...Object(user('And in red.')),
    _meta: { source: 'mid_turn_message_injected' },
  };
  const words = wordsOf([user('Make it.'), say('I begin.'), steered, say('In red.'), user('Two?')]);
  expect(words).toEqual([['Make it.', 'I begin.', 'And in red.', 'In red.'], ['Two?']]);
});

test('the echo of a tool’s answer is not shown as a person’s message', () => {
  const call = { sessionUpdate: 'tool_call', toolCallId: 'a', title: 'Reads', status: 'completed' };
  const words = wordsOf([
    user('Read it.'),
    call,
    user('[Function Response: read_file][Function Response: list_directory]'),
    say('I have read it.'),
    user('What is [Function Response: read_file]?'),
    say('A note.'),
  ]);
  expect(words).toEqual([
    ['Read it.', 'function_call', 'I have read it.', 'function_call_output'],
    ['What is [Function Response: read_file]?', 'A note.'],
  ]);
});

test('reading a replay twice gives the same turns', () => {
  const updates = [user('One?'), say('One.'), user('Two?')];
  expect(replay(updates)).toEqual(replay(updates));
});

test('events carry the time of their update', () => {
  const [turn] = readReplay(
    [
      { update: user('One?'), timestamp: '2026-01-01T00:00:00.000Z' },
      { update: say('One.'), timestamp: '2026-01-02T00:00:00.000Z' },
    ],
    { cliType: 'scripted', agentSessionId: 'agent-session' },
  );
  expect(turn?.events[0]?.timestamp).toBe('2026-01-01T00:00:00.000Z');
  expect(turn?.events.at(-1)?.timestamp).toBe('2026-01-02T00:00:00.000Z');
});

test('chunks of a user’s message are one message, unless their ids differ', () => {
  expect(wordsOf([user('One '), user('message.'), say('Yes.')])).toEqual([
    ['One message.', 'Yes.'],
  ]);
  expect(wordsOf([user('One', 'a'), user(' more', 'a'), user('Two', 'b')])).toEqual([
    ['One more'],
    ['Two'],
  ]);
});

test('a user’s message keeps its images', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
  const [turn] = turnsOf([user('Look:'), { sessionUpdate: 'user_message_chunk', content: image }]);
  expect(turn?.outputItems).toMatchObject([{ content: 'Look:', blocks: [image], origin: 'user' }]);
});

test('updates before the first user message are a turn of the agent', () => {
  const [own, next] = turnsOf([say('Welcome back.'), user('Hi.')]);
  expect(own).toMatchObject({ trigger: 'agent', outputItems: [{ content: 'Welcome back.' }] });
  expect(next).toMatchObject({ trigger: 'user' });
});

test('session state is not history, and an empty replay has no turns', () => {
  const state = [
    { sessionUpdate: 'available_commands_update', availableCommands: [] },
    { sessionUpdate: 'session_info_update', title: 'A title' },
    { sessionUpdate: 'usage_update', used: 1, size: 2 },
    { sessionUpdate: 'hologram' },
    null,
  ];
  expect(replay(state)).toEqual([]);
  expect(replay([])).toEqual([]);
});

test('a call that is announced as completed gets its later output', () => {
  const call = (toolCallId: string) => ({
    sessionUpdate: 'tool_call',
    toolCallId,
    title: 'look',
    status: 'completed',
  });
  const output = (toolCallId: string, rawOutput: string) => ({
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: 'completed',
    rawOutput,
  });
  const [turn] = turnsOf([
    user('Look.'),
    call('a'),
    call('b'),
    call('c'),
    output('b', 'B'),
    output('a', 'A'),
  ]);
  const outputs = itemsOf(turn!, 'function_call_output');
  expect(outputs.map(({ callId, output: said, success }) => [callId, said, success])).toEqual([
    ['b', 'B', true],
    ['a', 'A', true],
    ['c', '', true],
  ]);
});
