/** Updates of ACP's unstable schema: several plans, messages between sessions, subagents. */
import { describe, expect, test } from 'vitest';
import { foldTurn, itemsOf, textsIn } from '../../../testing/folding.ts';
import { recordTurn } from './testing/recorded-translator.ts';

const turnOf = (...updates: unknown[]) => foldTurn(recordTurn(updates).drafts, 'turn');
const noticesOf = (...updates: unknown[]) =>
  textsIn(turnOf(...updates)).flatMap(([origin, text]) => (origin === 'system' ? [text] : []));

describe('several plans', () => {
  const entry = (content: string) => ({ content, priority: 'medium', status: 'pending' });
  const items = (planId: string, ...entries: string[]) => ({
    sessionUpdate: 'plan_update',
    plan: { type: 'items', planId, entries: entries.map((content) => entry(content)) },
  });
  const words = (planId: string, content: string) => ({
    sessionUpdate: 'plan_update',
    plan: { type: 'markdown', planId, content },
  });
  const removed = (planId: string) => ({ sessionUpdate: 'plan_removed', planId });

  test('several plans become one item each, with the newest entries', () => {
    const response = turnOf(items('a', 'Look'), items('b', 'Leap'), items('a', 'Look', 'Land'));
    expect(itemsOf(response, 'plan')).toMatchObject([
      { id: 'turn:plan:a', entries: [entry('Look'), entry('Land')] },
      { id: 'turn:plan:b', entries: [entry('Leap')] },
    ]);
  });

  test('a plan in Markdown or in a file is shown whenever it changes', () => {
    const file = { type: 'file', planId: 'f', uri: 'file:///project/PLAN.md' };
    const inFile = { sessionUpdate: 'plan_update', plan: file };
    expect(
      noticesOf(words('a', '# One'), words('a', '# One'), words('a', '# Two'), inFile, inFile),
    ).toEqual(['# One', '# Two', 'Plan: file:///project/PLAN.md']);
  });

  test('a removed plan is empty, and removing an unknown plan changes nothing', () => {
    const response = turnOf(items('a', 'Look'), removed('b'), removed('a'));
    expect(itemsOf(response, 'plan')).toMatchObject([{ entries: [] }]);
    expect(noticesOf(words('a', '# One'), removed('a'))).toEqual([
      '# One',
      'The agent has dropped its plan.',
    ]);
  });

  test('a plan of another kind is kept unchanged', () => {
    const odd = { sessionUpdate: 'plan_update', plan: { type: 'graph', planId: 'a' } };
    const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 't', status: 'completed' };
    const [made] = itemsOf(turnOf(odd, call), 'function_call');
    expect(JSON.stringify(made?.raw)).toContain('graph');
  });
});

describe('messages between sessions', () => {
  const text = (said: string) => ({ type: 'text', text: said });
  const whole = (said: string, more = {}) => ({
    sessionUpdate: 'session_message',
    messageId: 'm',
    content: [text(said)],
    ...more,
  });
  const chunk = (said: string) => ({
    sessionUpdate: 'session_message_chunk',
    messageId: 'm',
    content: text(said),
  });
  const between = { senderSessionId: 'main', recipientSessionId: 'helper' };

  test('a whole message between sessions names the two sessions', () => {
    expect(noticesOf(whole('Look here.', between))).toEqual([
      'Message between sessions from main to helper:\n\nLook here.',
    ]);
  });

  test.each([
    ['chunks alone', [chunk('Look '), chunk('here.')]],
    ['chunks, then the whole', [chunk('Look '), chunk('here.'), whole('Look here.')]],
    ['a beginning, then the whole', [chunk('Look '), whole('Look here.')]],
    ['the participants first', [{ ...whole(''), content: [] }, chunk('Look here.')]],
  ])('a message between sessions is shown once: %s', (_, updates) => {
    expect(noticesOf(...updates)).toEqual(['Message between sessions:\n\nLook here.']);
  });
});

test('a subagent is announced, and each change of its state is shown once', () => {
  const update = (more: object) => ({ sessionUpdate: 'subagent_update', sessionId: 's', ...more });
  const state = (name: string) => ({ state: { state: name } });
  expect(
    noticesOf(
      update({ title: 'Reader', description: 'Reads the code.' }),
      update(state('running')),
      update(state('running')),
      update(state('requires_action')),
      update(state('dreaming')),
      update(state('idle')),
    ),
  ).toEqual([
    'The subagent “Reader” was started.\n\nReads the code.',
    'The subagent “Reader” is working.',
    'The subagent “Reader” waits for an answer.',
    'The subagent “Reader” is in the state dreaming.',
    'The subagent “Reader” has finished.',
  ]);
});
