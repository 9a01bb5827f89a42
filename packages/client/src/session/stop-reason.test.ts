import { expect, test } from 'vitest';
import { stopReason } from './stop-reason.ts';

const turn = { turnId: 't', status: 'complete', items: [] } as const;

test.each([
  ['max_tokens', 'Stopped: the answer reached its length limit'],
  ['max_turn_requests', 'Stopped: the agent reached its limit of steps in one turn'],
  ['refusal', 'Stopped: the model refused to continue'],
  ['of_tomorrow', 'Stopped: of_tomorrow'],
  ['constructor', 'Stopped: constructor'],
])(
  'a turn that stopped because of %s has a sentence about the reason',
  (finishReason, sentence) => {
    expect(stopReason({ ...turn, finishReason })).toBe(sentence);
  },
);

test.each(['end_turn', 'stop', 'stop_sequence', 'rewind', 'tasks_ended', undefined])(
  'a turn that ended because of %s has no sentence about the reason',
  (finishReason) => {
    expect(stopReason({ ...turn, ...(finishReason && { finishReason }) })).toBeUndefined();
  },
);

test('a turn that was stopped or has failed has no stop reason', () => {
  expect(stopReason({ ...turn, status: 'aborted', finishReason: 'cancelled' })).toBeUndefined();
  expect(stopReason({ ...turn, status: 'error', finishReason: 'max_tokens' })).toBeUndefined();
});
