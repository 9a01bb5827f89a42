import { DriverRegistry } from '@liminal/agents';
import { expect, test } from 'vitest';
import { createRuntime } from '../src/index.ts';
import { Reader, startWorld } from './harness.ts';

test('SAFE: a session whose agent is no longer configured can be read, and sending a message reports the missing agent', async () => {
  const world = await startWorld();
  const { runtime, agent, projectDir } = world;
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  await runtime.send(sessionId, 'Hello there');
  agent.finish(sessionId);
  await expect
    .poll(async () => (await runtime.history(sessionId)).turns[0]?.status)
    .toBe('complete');
  await runtime.close();
  const log: string[] = [];
  const note = (_: object, message: string) => void log.push(message);
  const next = await createRuntime({
    storage: world.storage,
    drivers: new DriverRegistry(),
    roots: [projectDir],
    logger: { info: () => {}, warn: note, error: note },
  });
  expect((await next.history(sessionId)).entries).toMatchObject([{ content: 'Hello there' }]);
  const reader = new Reader(next, sessionId);
  await reader.untilType('session:history');
  await reader.untilType('session:info');
  expect([...reader.items.values()]).toMatchObject([{ content: 'Hello there' }]);
  reader.close();
  await expect(next.send(sessionId, 'More')).rejects.toMatchObject({
    code: 'UNSUPPORTED_CLI_TYPE',
    message: expect.stringContaining('"scripted"'),
  });
  expect(log).toEqual([]);
  await next.cancel(sessionId);
  await next.kill(sessionId);
  await next.close();
  await world.end();
});
