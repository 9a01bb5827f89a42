import { shapes } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runAgent } from './running-agent.ts';

test('a turn that the agent stops at its limit of steps is complete, and says why it stopped', async () => {
  const listener = await (await runAgent(shapes.stepLimit)).create();
  const response = await listener.ask('Go on.');
  expect(response).toMatchObject({ status: 'complete', finishReason: 'max_turn_requests' });
  expect(listener.turns.at(-1)).toMatchObject({
    type: 'turn_complete',
    status: 'completed',
    finishReason: 'max_turn_requests',
  });
});
