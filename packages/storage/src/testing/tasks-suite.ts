import { describe, expect, onTestFinished, test } from 'vitest';
import type { Task, TaskSide } from '../coordination.ts';
import type { Server, TwoServers } from './subject.ts';

const patience = { timeout: 15_000, interval: 10 };

/** Returns a worker that takes one task after another. */
function worker({ coordination }: Server, name: string) {
  const stop = new AbortController();
  const tasks = coordination.tasks.take(name, stop.signal)[Symbol.asyncIterator]();
  onTestFinished(() => stop.abort());
  return {
    next: async () => (await tasks.next()).value as Task | undefined,
    stop: () => stop.abort(),
  };
}

/** A worker that takes every task that it can get. */
function greedy(server: Server, name: string) {
  const bodies: string[] = [];
  const one = worker(server, name);
  const take = async () => {
    for (let task = await one.next(); task; task = await one.next()) bodies.push(task.body);
  };
  return { bodies, ended: take(), stop: one.stop };
}

function follow({ coordination }: Server, taskId: string, from: TaskSide) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const said = coordination.tasks.follow(taskId, from, stop.signal)[Symbol.asyncIterator]();
  return {
    next: async () => (await said.next()).value as string | undefined,
    stop: () => stop.abort(),
  };
}

export function tasksSuite(servers: () => TwoServers): void {
  describe('the queue of tasks', () => {
    test('gives a task to a waiting worker, or to the next worker that comes', async () => {
      const { one, two } = servers();
      const [first, second] = ['do this', 'ß🧵\0\n'];
      const early = await one.coordination.tasks.offer(first);
      const { next } = worker(two, 'worker');
      expect(await next()).toEqual({ taskId: early, body: first });
      const waiting = next();
      const late = await one.coordination.tasks.offer(second);
      expect(await waiting).toEqual({ taskId: late, body: second });
    });

    test('gives each task to one worker', async () => {
      const { one, two } = servers();
      const workers = [greedy(one, 'a'), greedy(two, 'b'), greedy(two, 'b')];
      const bodies = Array.from({ length: 50 }, (_, index) => `task-${index}`);
      await Promise.all(bodies.map(async (body) => one.coordination.tasks.offer(body)));
      const given = () => workers.flatMap((each) => each.bodies);
      await expect.poll(() => given().length, patience).toBeGreaterThanOrEqual(bodies.length);
      for (const each of workers) each.stop();
      await Promise.all(workers.map(async ({ ended }) => ended));
      expect(given().toSorted()).toEqual(bodies.toSorted());
    });

    test('never assigns a task again, even if its worker is gone', async () => {
      const { one, two } = servers();
      const gone = worker(one, 'gone');
      await two.coordination.tasks.offer('taken');
      expect(await gone.next()).toMatchObject({ body: 'taken' });
      gone.stop();
      expect(await gone.next()).toBe(undefined);
      const other = greedy(two, 'other');
      await two.coordination.tasks.offer('last');
      await expect.poll(() => other.bodies, patience).toEqual(['last']);
    });

    test('reports whether a task waits for a worker, was taken, or has no worker', async () => {
      const { one, two } = servers();
      const { tasks } = one.coordination;
      const taskId = await tasks.offer('a');
      expect(await tasks.stateOf(taskId)).toBe('unattended');
      const busy = worker(two, 'busy');
      await busy.next();
      expect(await tasks.stateOf(taskId)).toBe('taken');
      const later = await tasks.offer('b');
      expect(await tasks.stateOf(later)).toBe('waits');
      busy.stop();
      // The worker stops when it next asks for a task.
      expect(await busy.next()).toBe(undefined);
      await expect.poll(async () => tasks.stateOf(later), patience).toBe('unattended');
    });

    test('does not give a withdrawn task to a worker', async () => {
      const { one, two } = servers();
      const withdrawn = await one.coordination.tasks.offer('withdrawn');
      await two.coordination.tasks.withdraw(withdrawn);
      await one.coordination.tasks.offer('stays');
      expect(await worker(two, 'worker').next()).toMatchObject({ body: 'stays' });
    });

    test('passes on each side’s messages, from the beginning and in order', async () => {
      const { one, two } = servers();
      const taskId = await one.coordination.tasks.offer('a');
      const [asker, ofWorker] = [follow(two, taskId, 'asker'), follow(one, taskId, 'worker')];
      const waiting = asker.next();
      const numbers = Array.from({ length: 300 }, (_, index) => String(index));
      await two.coordination.tasks.sendMessage(taskId, 'worker', '');
      for (const number of numbers)
        await two.coordination.tasks.sendMessage(taskId, 'worker', number);
      expect(await ofWorker.next()).toBe('');
      for (const number of numbers) expect(await ofWorker.next()).toBe(number);
      await one.coordination.tasks.sendMessage(taskId, 'asker', 'ß🧵\n');
      expect(await waiting).toBe('ß🧵\n');
      const end = asker.next();
      asker.stop();
      expect(await end).toBe(undefined);
      expect(await follow(two, taskId, 'worker').next()).toBe('');
    });

    test('keeps the messages of one task separate from those of others', async () => {
      const { one, two } = servers();
      const { tasks } = one.coordination;
      const taskIds = [await tasks.offer('a'), await tasks.offer('b')];
      for (const taskId of taskIds) await tasks.sendMessage(taskId, 'asker', `to ${taskId}`);
      for (const taskId of taskIds) {
        expect(await follow(two, taskId, 'asker').next()).toBe(`to ${taskId}`);
      }
    });
  });
}
