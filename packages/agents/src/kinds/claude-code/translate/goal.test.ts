import { expect, test } from 'vitest';
import { readGoal } from './goal.ts';

const answered = (text: string, model = '<synthetic>') => ({
  type: 'assistant',
  message: { model, content: [{ type: 'text', text }] },
});
const active = (value: object | null) => ({ type: 'active_goal', value });
const info = (text: string) => [{ level: 'info', text }];

test.each([
  ['setting a goal', answered('Goal set: ship it'), info('Goal: ship it')],
  ['clearing a goal', answered('Goal cleared: ship it'), []],
  [
    'setting a goal without a check',
    active({ condition: 'ship it', iterations: 0 }),
    info('Goal: ship it'),
  ],
  [
    'an unmet goal',
    active({ condition: 'ship it', iterations: 2, last_reason: 'Tests fail.' }),
    info('Goal: ship it\nChecked 2 times, and not reached yet: Tests fail.'),
  ],
  ['reaching a goal', active(null), []],
  ['clearing the conversation', { type: 'conversation_reset' }, []],
  ['text of the model', answered('Goal set: ship it', 'claude-opus-5-5'), undefined],
  ['another command', answered('Session renamed to: Goal set: x'), undefined],
  ['another message', { type: 'system' }, undefined],
])('the goal’s notices are up to date after %s', (_name, message, expected) => {
  expect(readGoal(message)).toEqual(expected);
});
