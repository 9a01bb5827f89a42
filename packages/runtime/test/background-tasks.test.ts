import type { BackgroundTask } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';

let world: World;
let sessionId: string;

beforeEach(async () => {
  world = await startWorld();
  const { cliType, projectDir } = { cliType: 'scripted', projectDir: world.projectDir };
  ({ sessionId } = await world.runtime.createSession({ cliType, projectDir }));
});
afterEach(async () => world.end());

const startedAt = '2026-01-01T00:00:00.000Z';
const server: BackgroundTask = { taskId: 'a', title: 'npm run dev', kind: 'command', startedAt };
const agent: BackgroundTask = { taskId: 'b', title: 'Read the docs', kind: 'agent', startedAt };
const notice =
  'The agent’s process has ended, and with it its background tasks: npm run dev; Read the docs.';

async function turn(text: string): Promise<void> {
  await world.runtime.send(sessionId, text);
  world.agent.finish(sessionId);
  await isIdle();
}

const isIdle = async () =>
  await expect.poll(async () => (await world.runtime.status(sessionId)).state).toBe('idle');
const historyTexts = async (id = sessionId) =>
  (await world.runtime.history(id)).entries.map((one) => ('content' in one ? one.content : ''));

const tasksOf = (reader: Reader) => reader.ofType('session:info').at(-1)?.info.tasks;

test('changes of background tasks and of the account’s limits are sent to readers', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  const limits = [{ name: '5 hours', isReached: true, resetsAt: startedAt }];
  world.agent.update(sessionId, { tasks: [server], limits });
  await reader.until(() => tasksOf(reader)?.length === 1);
  expect(reader.ofType('session:info').at(-1)?.info).toMatchObject({ tasks: [server], limits });
  const later = { ...server, progress: 'Listening on 3000' };
  world.agent.update(sessionId, { tasks: [later, agent] });
  await reader.until(() => tasksOf(reader)?.length === 2);
  expect((await world.runtime.info(sessionId)).tasks).toEqual([later, agent]);
  world.agent.update(sessionId, { tasks: [] });
  await reader.until(() => tasksOf(reader) === undefined);
  await world.runtime.kill(sessionId);
  expect(await historyTexts()).toEqual([]);
});

test('stopping a task succeeds, or is rejected with the agent’s reason', async () => {
  world.agent.update(sessionId, { tasks: [server] });
  await world.runtime.stopTask(sessionId, 'a');
  expect(world.agent.stopped).toEqual(['a']);
  await expect(world.runtime.stopTask(sessionId, 'c')).rejects.toMatchObject({
    code: 'TASK_NOT_FOUND',
  });
});

describe('tasks that ran in the background when the agent ended', () => {
  beforeEach(async () => {
    await turn('Start it.');
    world.agent.update(sessionId, { tasks: [server, agent] });
    await expect
      .poll(async () => (await world.storage.store.getSession(sessionId))?.tasks)
      .toHaveLength(2);
  });

  test('are named in the conversation, once, and the session continues', async () => {
    const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
    await world.runtime.kill(sessionId);
    await reader.untilTurn('turn_complete');
    expect(await historyTexts()).toEqual(['Start it.', notice]);
    expect((await world.runtime.info(sessionId)).tasks ?? []).toEqual([]);
    await turn('Again.');
    world = await world.restart();
    expect(await historyTexts()).toEqual(['Start it.', notice, 'Again.']);
    // The notice is not a turn of the agent, and the fork does not have the tasks.
    const { turns } = await world.runtime.history(sessionId);
    const fork = await world.runtime.fork(sessionId, { turnId: turns[0]!.turnId });
    expect(world.agent.forks).toEqual([turns[0]!.turnId]);
    expect(await historyTexts(fork.sessionId)).toEqual([
      'Start it.',
      expect.stringMatching(/^The fork/),
    ]);
  });

  test('are also named if the agent crashed during a turn, which stays failed', async () => {
    const { turnId } = await world.runtime.send(sessionId, 'Go on.');
    world.agent.crash(sessionId);
    await expect.poll(async () => (await historyTexts()).includes(notice)).toBe(true);
    await expect.poll(async () => (await world.runtime.status(sessionId)).state).toBe('failed');
    const { turns } = await world.runtime.history(sessionId);
    expect(turns.find((one) => one.turnId === turnId)).toMatchObject({ status: 'error' });
    expect(await historyTexts()).toEqual(['Start it.', 'Go on.', notice]);
  });

  test('are named by the next server if the server ended with the agent', async () => {
    world = await world.restart();
    await world.runtime.loadSession(sessionId);
    await expect.poll(async () => (await historyTexts()).includes(notice)).toBe(true);
    expect(await historyTexts()).toEqual(['Start it.', notice]);
    world = await world.restart();
    await world.runtime.loadSession(sessionId);
    expect(await historyTexts()).toEqual(['Start it.', notice]);
  });
});
