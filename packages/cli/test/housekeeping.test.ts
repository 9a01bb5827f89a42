import type { LiminalClient } from '@liminal/client';
import { SessionSummary } from '@liminal/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, Home, talked } from './command.ts';

let home: Home;
let client: LiminalClient;
/** Deleted before there was a server. */
let gone: string;

beforeAll(async () => {
  home = new Home();
  const command = home.start(['run', 'explain', '--agent', 'demo', '--set', 'pace=instant']);
  gone = (await command.says(/^Session (\S+)$/m))[1]!;
  expect(await command.exitCode).toBe(0);
  await done('delete', gone, '--yes');
  client = clientOf(await home.serve());
});
afterAll(async () => {
  client.close();
  await home.close();
});

/** Runs a command to its end. */
async function done(...args: string[]): Promise<string> {
  const command = home.start(args);
  expect(await command.exitCode).toBe(0);
  return command.stdout;
}

const idsIn = (lines: string) => lines.split('\n').flatMap((line) => line.split('  ')[0] || []);

test('a session is deleted, without a server too, and those who follow it are told', async () => {
  expect(await done('sessions')).toBe('');
  await done('delete', gone, '--yes');

  const id = await talked(client, home.project, 'explain');
  const tail = home.start(['tail', id]);
  await tail.says(/^> explain$/m);
  await done('delete', id, '--yes');
  expect(await tail.exitCode).toBe(1);
  expect(tail.stderr).toBe(`Session ${id} was deleted.\n`);
});

test('sessions are listed, archived ones apart, pinned ones first; a message brings one back', async () => {
  const a = await talked(client, home.project, 'explain');
  const b = await talked(client, home.project, 'fix');
  const c = await talked(client, home.project, 'plan');
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
  await client.requests.archive(b);
  await done('run', 'fix', '--session', b);
  expect(idsIn(await done('sessions'))).toEqual([b, c, a]);
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
