/** A session's title and its title in the agent's store are kept equal. */
import { expect, onTestFinished, test } from 'vitest';
import { startWorld } from './harness.ts';

test('a session that is renamed in Liminal is renamed in its agent, and vice versa', async () => {
  const { runtime, agent, projectDir, end } = await startWorld();
  onTestFinished(end);
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  const title = async () => (await runtime.info(sessionId)).session.title;
  await runtime.rename(sessionId, 'Pears');
  await expect.poll(() => agent.titles.length).toBeGreaterThan(0);
  expect(agent.titles).toEqual(['Pears']);
  agent.update(sessionId, { title: 'Plums' });
  await expect.poll(title).toBe('Plums');
  expect(agent.titles).toEqual(['Pears']);
});
