import { expect, test } from 'vitest';
import { readGoal } from './goal.ts';

const answered = (text: string, model = '<synthetic>') => ({
  type: 'assistant',
  message: { model, content: [{ type: 'text', text }] },
});
const active = (value: object | null) => ({ type: 'active_goal', value });
const info = (text: string) => [{ level: 'info', text }];

test.each([
  ['a goal that is set', answered('Goal set: ship it'), info('Goal: ship it')],
  ['a goal that is cleared', answered('Goal cleared: ship it'), []],
  [
    'a goal before its first check',
    active({ condition: 'ship it', iterations: 0 }),
    info('Goal: ship it'),
  ],
  [
    'a goal that is not reached',
    active({ condition: 'ship it', iterations: 2, last_reason: 'Tests fail.' }),
    info('Goal: ship it\nChecked 2 times, and not reached yet: Tests fail.'),
  ],
  ['a goal that is reached', active(null), []],
  ['a conversation that begins anew', { type: 'conversation_reset' }, []],
  ['words of the model', answered('Goal set: ship it', 'claude-opus-5-5'), undefined],
  ['another command', answered('Session renamed to: Goal set: x'), undefined],
  ['another message', { type: 'system' }, undefined],
])('%s', (_name, message, expected) => {
  expect(readGoal(message)).toEqual(expected);
});
