import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { testAtLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { endGroup } from '../../src/process/group.ts';
import { processSupport } from '../../src/process/support.ts';
import { isThere, untilGone } from './tree.ts';

/** Starts a process group; returns the pids of its leader and of one member. */
async function startGroup(script: string): Promise<{ leader: number; member: number }> {
  const child = spawn('/bin/sh', ['-c', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return { leader: child.pid!, member: Number(chunk.toString()) };
}

test('INV-8: without a process table, an agent’s process group is ended', async () => {
  const { leader, member } = await startGroup('sleep 300 & echo $!; wait');

  const outcome = await endGroup(leader, false, 20_000, 10_000);

  expect(outcome).toEqual({ ended: 1, left: [] });
  await untilGone([leader, member]);
});

testAtLength(
  'INV-8: without a process table, a group that ignores SIGTERM is killed after the grace period',
  async () => {
    const { leader, member } = await startGroup(`trap '' TERM; sleep 300 & echo $!; wait`);

    await endGroup(leader, false, 100, 10_000);

    expect(isThere(leader)).toBe(false);
    await untilGone([member]);
  },
);

test('INV-8: without a process table, a group whose leader has exited is ended, but not a process that has got the leader’s pid', async () => {
  const { leader, member } = await startGroup('sleep 300 & echo $!');
  await untilGone([leader]);
  expect(await endGroup(leader, true, 20_000, 10_000)).toEqual({ ended: 1, left: [] });
  await untilGone([member]);
  const other = spawn('sleep', ['300']);
  await once(other, 'spawn');
  expect(await endGroup(other.pid, true, 100, 100)).toEqual({ ended: 0, left: [] });
  expect(isThere(other.pid!)).toBe(true);
  other.kill();
});

test('if the process has already ended, nothing happens', async () => {
  const gone = spawn('/bin/true');
  await once(gone, 'exit');

  expect(await endGroup(gone.pid, true, 100, 100)).toEqual({ ended: 0, left: [] });
  expect(await endGroup(undefined, false, 100, 100)).toEqual({ ended: 0, left: [] });
});

test('the machine’s support for ending processes is described in a sentence', () => {
  expect(processSupport()).toEqual({
    complete: process.platform === 'linux',
    sentence: expect.stringMatching(/^[A-Z].*\.$/),
  });
});
