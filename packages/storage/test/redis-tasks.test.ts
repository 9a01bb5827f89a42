import { expect, test } from 'vitest';
import type { Task } from '../src/index.ts';
import { cuttable } from './cuttable.ts';
import { ask, ownRedis } from './redis-stage.ts';

const patience = { timeout: 30_000, interval: 20 };
const { signal } = new AbortController();

/** Records the tasks that a worker gets. */
function bodiesOf(tasks: AsyncIterable<Task>): string[] {
  const bodies: string[] = [];
  void (async () => {
    for await (const { body } of tasks) bodies.push(body);
  })();
  return bodies;
}

test('tasks do not stay in Redis, and only the newest messages of a side are kept', async () => {
  const { redis, open } = await ownRedis();
  const { tasks } = (await open()).coordination;
  const keys = async () => ((await ask(redis, 'KEYS', '*')) as string[]).toSorted();
  const taskId = await tasks.offer('task');
  await tasks.sendMessage(taskId, 'asker', 'go');
  await Promise.all(
    Array.from({ length: 12_000 }, async () => tasks.sendMessage(taskId, 'worker', 'output')),
  );
  for await (const task of tasks.take('worker', signal)) {
    expect(task.taskId).toBe(taskId);
    const there = [
      'codex:tools',
      `{codex:tools}:${taskId}:asker`,
      `{codex:tools}:${taskId}:worker`,
    ];
    const found = await keys();
    expect(found).toEqual(expect.arrayContaining([...there, '{codex:tools}:workers']));
    for (const key of found) expect(await ask(redis, 'PTTL', key)).toBeGreaterThan(0);
    expect(await ask(redis, 'XLEN', there[2]!)).toBeLessThan(10_500);
    break;
  }
  expect(await ask(redis, 'XLEN', 'codex:tools')).toBe(0);
  expect(await ask(redis, 'EXISTS', '{codex:tools}:workers')).toBe(0);
});

test('a worker that was killed no longer counts, and its consumer is removed', async () => {
  const { redis, open } = await ownRedis();
  const { tasks } = (await open()).coordination;
  const group = ['codex:tools', 'codex-tools-group'];
  await ask(redis, 'XGROUP', 'CREATE', ...group, '0', 'MKSTREAM');
  await ask(redis, 'XGROUP', 'CREATECONSUMER', ...group, 'killed');
  await ask(redis, 'ZADD', '{codex:tools}:workers', String(Date.now() + 500), 'killed');
  const taskId = await tasks.offer('task');
  expect(await tasks.stateOf(taskId)).toBe('waits');
  await expect.poll(async () => tasks.stateOf(taskId), patience).toBe('unattended');
  expect(await ask(redis, 'XINFO', 'CONSUMERS', ...group)).toEqual([]);
});

test('a worker continues after a lost connection, and after Redis has lost all its data', async () => {
  const { redis, open } = await ownRedis();
  const way = await cuttable(redis.port);
  const [near, far] = [await open(), await open({ url: way.url })];
  const bodies = bodiesOf(far.coordination.tasks.take('far', signal));
  await near.coordination.tasks.offer('before');
  await expect.poll(() => bodies, patience).toEqual(['before']);
  way.cut();
  await near.coordination.tasks.offer('during');
  way.mend();
  await expect.poll(() => bodies, patience).toEqual(['before', 'during']);
  await ask(redis, 'FLUSHALL');
  await near.coordination.tasks.offer('after');
  await expect.poll(() => bodies, patience).toEqual(['before', 'during', 'after']);
});
