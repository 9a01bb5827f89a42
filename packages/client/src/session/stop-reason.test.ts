import { expect, test } from 'vitest';
import { stopReason } from './stop-reason.ts';

const turn = { turnId: 't', status: 'complete', items: [] } as const;

test.each([
  ['max_tokens', 'Stopped: the answer reached its length limit'],
  ['max_turn_requests', 'Stopped: the agent reached its limit of steps in one turn'],
  ['refusal', 'Stopped: the model refused to go on'],
  ['of_tomorrow', 'Stopped: of_tomorrow'],
  ['constructor', 'Stopped: constructor'],
])('a turn that stopped by %s says so', (finishReason, sentence) => {
  expect(stopReason({ ...turn, finishReason })).toBe(sentence);
});

test.each(['end_turn', 'stop', 'stop_sequence', 'rewind', 'tasks_ended', undefined])(
  'one that ended by %s says nothing',
  (finishReason) => {
    expect(stopReason({ ...turn, ...(finishReason && { finishReason }) })).toBeUndefined();
  },
);

test('one that was stopped or failed has its own words', () => {
  expect(stopReason({ ...turn, status: 'aborted', finishReason: 'cancelled' })).toBeUndefined();
  expect(stopReason({ ...turn, status: 'error', finishReason: 'max_tokens' })).toBeUndefined();
});
