import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shapes } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runAgent, said } from './running-agent.ts';

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

test('an agent that first asks for a file makes one where there is none', async () => {
  const { create, control, projectDir } = await runAgent(shapes.newFile);
  const response = await (await create()).ask('Make it.');
  expect(said(response).at(-1)).toBe('agent: It is made.');
  expect(await readFile(join(projectDir, 'made.txt'), 'utf8')).toBe('made\n');
  const { error } = await control.until((message) => message.error !== undefined);
  expect(error).toMatchObject({ code: -32002, data: { uri: join(projectDir, 'made.txt') } });
});
