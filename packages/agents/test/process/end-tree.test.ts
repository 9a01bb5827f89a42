import { afterEach, describe, expect, test, vi } from 'vitest';
import { endTree } from '../../src/process/end-tree.ts';
import { startGuard } from '../../src/process/guard.ts';
import { processMark } from '../../src/process/mark.ts';
import { isRunning, readProcess } from '../../src/process/table.ts';
import { fellTrees, growTree, isThere, untilGone } from './tree.ts';

afterEach(fellTrees);

/** Scripts that start processes with a mark and print the pids of the processes. */
const shapes: Record<string, { script: string; count: number }> = {
  'forks and waits': { script: 'sleep 300 & echo $!; sleep 300 & echo $!; wait', count: 2 },
  'runs tools in process sessions of their own': {
    script: `setsid sh -c 'echo $$; sleep 300 & echo $!; wait' & wait`,
    count: 2,
  },
  'detaches with a double fork and exits': {
    script: `setsid sh -c '(sleep 300 & echo $!)' & wait`,
    count: 1,
  },
  'ignores SIGTERM': {
    script: `sh -c 'trap "" TERM; echo $$; exec sleep 300' & wait`,
    count: 1,
  },
  'starts more processes at SIGTERM': {
    script: `trap 'setsid sleep 300 & echo $!' TERM; echo $$; while :; do sleep 0.1; done`,
    count: 1,
  },
  'clears the environment of its descendants': {
    script: `env -i /bin/sh -c 'echo $$; /bin/sleep 300 & echo $!; wait' & wait`,
    count: 2,
  },
  'exits and leaves a descendant that has no environment and ignores SIGTERM': {
    script: `env -i /bin/sh -c 'trap "" TERM; echo $$; exec /bin/sleep 300' & wait`,
    count: 1,
  },
  'is stopped': { script: 'sleep 300 & echo $!; kill -STOP $!; wait', count: 1 },
};

describe('ending a tree that', () => {
  test.each(Object.entries(shapes))(
    'INV-8: %s leaves no process',
    async (_name, { script, count }) => {
      const mark = processMark();
      const { root, pids, closed } = await growTree(script, count, mark.env);

      const outcome = await endTree({ mark: mark.id, child: root }, { graceMs: 300 });

      expect(pids.filter(isThere)).toEqual([]);
      expect(outcome.left).toEqual([]);
      expect(outcome.ended).toBeGreaterThanOrEqual(count);
      // No process has the pipe open any more, not even a process that was forked since then.
      await closed;
    },
  );
});

test('INV-8: a tree ends in time even if the clock is set back during the grace period', async () => {
  const mark = processMark();
  const { script, count } = shapes['ignores SIGTERM']!;
  const { root, pids } = await growTree(script, count, mark.env);
  let now = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now -= 600_000));
  const outcome = await endTree({ mark: mark.id, child: root }, { graceMs: 100 });
  clock.mockRestore();
  expect(pids.filter(isThere)).toEqual([]);
  expect(outcome.left).toEqual([]);
}, 10_000);

test('INV-8: a tree ends even if the first reading of the process table takes longer than the grace period and the limit together', async () => {
  const mark = processMark();
  const { script, count } = shapes['ignores SIGTERM']!;
  const { root, pids } = await growTree(script, count, mark.env);
  const real = performance.now.bind(performance);
  let calls = 0;
  const clock = vi
    .spyOn(performance, 'now')
    .mockImplementation(() => real() + (calls++ === 0 ? 0 : 60_000));
  const outcome = await endTree({ mark: mark.id, child: root }, { graceMs: 100 });
  clock.mockRestore();
  expect(pids.filter(isThere)).toEqual([]);
  expect(outcome.left).toEqual([]);
});

test('INV-8: the guard ends only after all trees have been ended', async () => {
  const guard = await startGuard();
  const mark = processMark();
  const script = `sh -c 'trap "" TERM; echo $$; exec sleep 300' & wait`;
  const { pids } = await growTree(script, 1, mark.env);

  void endTree({ mark: mark.id }, { graceMs: 300 });
  await guard.dismiss();

  expect(pids.filter(isThere)).toEqual([]);
});

test('INV-8: a tree whose root has exited is found by its mark', async () => {
  const mark = processMark();
  const { root, pids } = await growTree('setsid sleep 300 & echo $!', 1, mark.env);
  await untilGone([root.pid!]);

  await endTree({ mark: mark.id, child: root });

  expect(pids.filter(isThere)).toEqual([]);
});

test('INV-8: a process that is in the middle of an exec, and then shows no mark, is ended', async () => {
  // The process calls exec a thousand times in a row.
  const again = `[ $1 = 0 ] && exec sleep 300; exec sh -c "$0" "$0" $(($1 - 1))`;
  for (let round = 0; round < 20; round++) {
    const mark = processMark();
    const env = { ...mark.env, again };
    const { pids } = await growTree('setsid sh -c "$again" "$again" 1000 & echo $!', 1, env);

    await endTree({ mark: mark.id });

    expect(pids.filter(isThere)).toEqual([]);
  }
});

test('INV-8: a tree without a mark is found by its root', async () => {
  const { root, pids } = await growTree('sleep 300 & echo $!; wait', 1);

  await endTree({ child: root });

  expect([root.pid!, ...pids].filter(isThere)).toEqual([]);
});

test('INV-8: a process without a mark is ended if the leader of its process session had a mark but has exited', async () => {
  const mark = processMark();
  const { pids } = await growTree(
    `setsid sh -c 'echo $$; (env -i /bin/sleep 300 & echo $!); sleep 300'`,
    2,
    mark.env,
  );

  await endTree({ mark: mark.id });

  expect(pids.filter(isThere)).toEqual([]);
});

test('a process can finish its work within the grace period', async () => {
  const mark = processMark();
  const { root } = await growTree(
    `trap 'sleep 0.3; exit 7' TERM; echo $$; while :; do sleep 0.05; done`,
    1,
    mark.env,
  );
  const exited = new Promise((resolve) => root.once('exit', resolve));

  await endTree({ mark: mark.id }, { graceMs: 20_000 });

  expect(await exited).toBe(7);
});

test('the processes of another session of the same server continue', async () => {
  const [one, other] = [processMark(), processMark()];
  const ending = await growTree('echo $$; sleep 300; true', 1, one.env);
  const staying = await growTree('echo $$; sleep 300; true', 1, other.env);

  await endTree({ mark: one.id, child: ending.root });

  expect(isThere(ending.pids[0]!)).toBe(false);
  expect(isThere(staying.pids[0]!)).toBe(true);
  await endTree({ mark: other.id });
});

test('a process that has got the pid of an exited process is not ended', async () => {
  // This process stands for a later process with the same pid.
  const { root } = await growTree('echo $$; sleep 300; true', 1);
  const exited = { pid: root.pid!, exitCode: 0, signalCode: null };

  const outcome = await endTree({ mark: processMark().id, child: exited });

  expect(outcome).toEqual({ ended: 0, left: [] });
  expect(isThere(root.pid!)).toBe(true);
});

test('a process is identified by its pid and start time, so that another process with the same pid is not ended', () => {
  const self = readProcess(process.pid)!;

  expect(isRunning(self)).toBe(true);
  expect(isRunning({ ...self, startedAt: self.startedAt - 1 })).toBe(false);
});

test('this process and its ancestors are not ended', async () => {
  const running = { exitCode: null, signalCode: null };
  const outcomes = [
    await endTree({ child: { ...running, pid: process.pid } }),
    await endTree({ child: { ...running, pid: process.ppid } }),
  ];

  expect(outcomes.map(({ left }) => left)).toEqual([[], []]);
  expect(isThere(process.ppid)).toBe(true);
});
