/**
 * Commands on a data folder without a running server. Each command starts a server of its own, which ends with the
 * command.
 */
import { testAtLength } from '@liminal/testkit/at-length';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Home } from './command.ts';

let home: Home;
beforeAll(() => {
  home = new Home();
});
afterAll(() => home.close());

/** Runs a command to its end. Resolves with the command's output, without the last line end. */
async function done(...args: string[]): Promise<string> {
  const { exitCode, stdout } = await home.play(...args);
  expect(exitCode).toBe(0);
  return stdout.trimEnd();
}

test('`run` streams the answer to standard output and all other lines to standard error, continues a session, and fails if the turn fails; other commands fork, steer, tail and delete the session', async () => {
  const first = home.start(['run', 'fix', '--agent', 'demo', '--set', 'pace=fast']);
  await first.untilOutput(/Demo, recorded/);
  const early = first.stdout;
  expect(await first.exitCode).toBe(0);
  expect(first.stdout.startsWith(early)).toBe(true);
  expect(first.stdout.length).toBeGreaterThan(2 * early.length);
  expect(first.stdout).toMatch(/^Demo, recorded: /);
  expect(first.stdout).toMatch(/\.\n$/);
  expect(first.stdout).not.toContain('* Edit');
  expect(first.stderr).toContain('* Edit');

  const [, id = ''] = await first.untilOutput(/^Session (\S+)$/m);
  const second = home.start(['run', 'error', '--session', id, '--set', 'pace=instant']);
  expect(await second.exitCode).toBe(1);
  expect(second.stderr).toContain('! The turn failed: ');
  expect((await second.untilOutput(/^Session (\S+)$/m))[1]).toBe(id);

  const fork = await done('fork', id, '--turn', '2');
  expect(fork).not.toBe(id);
  const steer = await home.play('steer', id, 'A word.');
  expect(steer).toMatchObject({ exitCode: 1, stdout: '' });
  expect(steer.stderr).toContain('No turn is running. Send the text as a new message.');

  await done('delete', id, '--yes');
  // This test does not need an existing session.
  await done('delete', id, '--yes');
  expect((await done('sessions')).split('\n')).toEqual([expect.stringContaining(fork)]);
  const tail = home.start(['tail', fork]);
  expect(await tail.exitCode).toBe(0);
  expect(tail.stdout).toContain('> fix\n');
  expect(tail.stdout).toContain('> error\n');
});

testAtLength('`run` stops the turn on SIGINT', async () => {
  const command = home.start(['run', 'slow', '--agent', 'demo', '--set', 'pace=normal']);
  await command.untilOutput(/Demo, recorded/);
  command.signal('SIGINT');
  expect(await command.exitCode).toBe(1);
  expect(command.stderr).toContain('! The turn was stopped.');
});
