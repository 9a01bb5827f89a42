import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Home } from './command.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

test('steer says something in the turn that runs, with files, and prints the turn’s id', async () => {
  await home.serve();
  writeFileSync(join(home.project, 'notes.md'), '# Notes');
  const run = home.start(['run', 'build', '--agent', 'demo']);
  const [, sessionId = ''] = await run.says(/^Session (\S+)$/m);
  const tail = home.start(['tail', sessionId, '--json']);
  await tail.says(/"origin":"user"/);

  const steer = home.start(['steer', sessionId, 'Mind the tests.', '--attach', 'notes.md']);
  expect(await steer.exitCode).toBe(0);

  await tail.says(/Mind the tests\./);
  const said = tail.stdout.split('\n').find((line) => line.includes('Mind the tests.'));
  expect(JSON.parse(said!)).toMatchObject({
    turnId: steer.stdout.trim(),
    content: 'Mind the tests.',
    delivery: 'taken',
    blocks: [{ type: 'resource', resource: { name: 'notes.md' } }],
  });
});

test('steer without a turn that runs fails, and says what to do instead', async () => {
  const run = home.start(['run', 'explain', '--agent', 'demo', '--set', 'pace=instant']);
  const [, sessionId = ''] = await run.says(/^Session (\S+)$/m);
  expect(await run.exitCode).toBe(0);
  const steer = home.start(['steer', sessionId, 'A word.']);
  expect(await steer.exitCode).toBe(1);
  expect(steer.stdout).toBe('');
  expect(steer.stderr).toContain('No turn is running. Send it as a message of its own instead.');
});
