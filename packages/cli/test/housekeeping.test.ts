import { afterEach, beforeEach, expect, test } from 'vitest';
import { SessionSummary } from '@liminal/protocol';
import { Home } from './command.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

/** Runs a command to its end. */
async function done(...args: string[]): Promise<string> {
  const command = home.start(args);
  expect(await command.exitCode).toBe(0);
  return command.stdout;
}

async function begin(prompt: string): Promise<string> {
  const command = home.start(['run', prompt, '--agent', 'demo', '--set', 'pace=instant']);
  const [, sessionId] = await command.says(/^Session (\S+)$/m);
  await command.exitCode;
  return sessionId!;
}

const idsIn = (lines: string) => lines.split('\n').flatMap((line) => line.split('  ')[0] || []);

test('sessions are listed, archived ones apart, pinned ones first; a message brings one back', async () => {
  await home.serve();
  const [a, b, c] = [await begin('explain'), await begin('fix'), await begin('plan')];
  expect(idsIn(await done('sessions'))).toEqual([c, b, a]);
  expect(await done('sessions', '--archived')).toBe('');
  await done('archive', b);
  await done('pin', a);
  const lines = await done('sessions');
  expect(idsIn(lines)).toEqual([a, c]);
  expect(lines).toMatch(/ {2}demo {2}idle, pinned {2}\S+ {2}explain\n/);
  const archived = (await done('sessions', '--archived', '--json')).trim();
  expect(SessionSummary.parse(JSON.parse(archived))).toMatchObject({
    sessionId: b,
    archived: true,
  });

  await done('unpin', a);
  await done('unarchive', b);
  expect(idsIn(await done('sessions'))).toEqual([c, b, a]);
  await done('archive', b);
  await done('run', 'fix', '--session', b);
  expect(idsIn(await done('sessions'))).toEqual([b, c, a]);
});

test('a session is deleted, without a server too, and those who follow it are told', async () => {
  const a = await begin('explain');
  await done('delete', a, '--yes');
  await done('delete', a, '--yes');
  expect(await done('sessions')).toBe('');

  await home.serve();
  const b = await begin('explain');
  const tail = home.start(['tail', b]);
  await tail.says(/^> explain$/m);
  await done('delete', b, '--yes');
  expect(await tail.exitCode).toBe(1);
  expect(tail.stderr).toBe(`Session ${b} was deleted.\n`);
});

test.each([
  [['archive', 'nobody'], 1, 'nobody'],
  [['delete', 'nobody', '--yes'], 1, 'nobody'],
  [['delete', 'nobody'], 2, '--yes'],
  [['pin'], 2, 'sessionId'],
])('%j is refused in a sentence', async (args, exitCode, named) => {
  const command = home.start(args);
  expect(await command.exitCode).toBe(exitCode);
  expect(command.stdout).toBe('');
  expect(command.stderr).toContain(named);
});
