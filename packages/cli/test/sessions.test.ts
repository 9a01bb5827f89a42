/** Commands about the sessions of a running server. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiminalClient } from '@liminal/client';
import { SessionSummary } from '@liminal/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf, Home, createSessionWithTurns } from './command.ts';

let home: Home;
let client: LiminalClient;

beforeAll(async () => {
  home = new Home();
  client = clientOf(await home.serve());
});
afterAll(async () => {
  client.close();
  await home.close();
});

/** Runs a command to its end in a separate process. Resolves with the command's output, without the last line end. */
async function done(...args: string[]): Promise<string> {
  const command = home.start(args);
  expect(await command.exitCode).toBe(0);
  return command.stdout.trimEnd();
}

/** Like `done`, but runs the command in a process that all commands of this function share. */
async function played(...args: string[]): Promise<string> {
  const { exitCode, stdout } = await home.play(...args);
  expect(exitCode).toBe(0);
  return stdout.trimEnd();
}

/** Runs a command that must be refused with a sentence that contains `named`. Returns the outcome. */
function refused(exitCode: number, named: string) {
  return { exitCode, stdout: '', stderr: expect.stringContaining(named) as unknown };
}

describe('a list of sessions', () => {
  const idsIn = (lines: string) => lines.split('\n').flatMap((line) => line.split('  ')[0] || []);

  test('pinned sessions come first, and archived and deleted sessions are left out; a message unarchives a session; when a session is deleted, its `tail` ends', async () => {
    const a = await createSessionWithTurns(client, home.project, 'explain');
    const b = await createSessionWithTurns(client, home.project, 'fix');
    const c = await createSessionWithTurns(client, home.project, 'plan');
    await played('archive', b);
    await played('pin', a);
    const lines = await done('sessions');
    expect(idsIn(lines)).toEqual([a, c]);
    expect(lines).toMatch(/ {2}demo {2}idle, pinned {2}\S+ {2}explain\n/);
    const archived = await played('sessions', '--archived', '--json');
    expect(SessionSummary.parse(JSON.parse(archived))).toMatchObject({
      sessionId: b,
      archived: true,
    });

    await played('unpin', a);
    await played('unarchive', b);
    expect(idsIn(await played('sessions'))).toEqual([c, b, a]);
    await client.requests.archive(b);
    await client.requests.send(b, 'fix');
    const tail = home.start(['tail', c]);
    await tail.untilOutput(/^> plan$/m);
    await done('delete', c, '--yes');
    expect(await tail.exitCode).toBe(1);
    expect(tail.stderr).toBe(`Session ${c} was deleted.\n`);
    expect(idsIn(await played('sessions'))).toEqual([b, a]);
  });

  test('if the terminal is wide enough, the list has columns for model and cost', async () => {
    const sessionId = await createSessionWithTurns(client, home.project, 'explain');
    const wide = home.atTerminal(['sessions'], 160);
    await wide.shows(new RegExp(`${sessionId}.*  idle  -  -  /`));
    const narrow = home.atTerminal(['sessions'], 139);
    await narrow.shows(new RegExp(`${sessionId}.*  idle  /`));
    expect(narrow.output).not.toContain('  -  -  ');
  });

  test.each<[string[], number, string]>([
    [['archive', 'nobody'], 1, 'nobody'],
    [['delete', 'nobody', '--yes'], 1, 'nobody'],
    [['delete', 'nobody'], 2, '--yes'],
    [['pin'], 2, 'Give the session’s id'],
  ])('the command %j is refused with a sentence', async (args, exitCode, named) => {
    expect(await home.play(...args)).toEqual(refused(exitCode, named));
  });
});

describe('fork', () => {
  let sessionId: string;
  beforeAll(async () => {
    sessionId = await createSessionWithTurns(client, home.project, 'fix', 'plan', 'build');
  });

  /** Returns the user's messages of a session, as the server has stored them. */
  const prompts = async (id: string) =>
    (await client.requests.history(id)).entries.flatMap((item) =>
      item.type === 'message' && item.origin === 'user' ? [item.content] : [],
    );

  test('fork prints the id of a new session, which ends after the turn with the given number or id; by default it ends after the last turn', async () => {
    const second = await done('fork', sessionId, '--turn', '2');
    expect(second).toMatch(/^[\da-f-]{36}$/);
    expect(await prompts(second)).toEqual(['fix', 'plan']);
    expect(await prompts(await played('fork', sessionId))).toEqual(['fix', 'plan', 'build']);
    const { turns } = await client.requests.history(sessionId);
    const byId = await played('fork', sessionId, '--turn', turns[0]!.turnId);
    expect(await prompts(byId)).toEqual(['fix']);

    await client.requests.send(second, 'tools');
    await expect.poll(async () => prompts(second)).toEqual(['fix', 'plan', 'tools']);
    expect(await prompts(sessionId)).toEqual(['fix', 'plan', 'build']);
  });

  test.each([
    ['5', 'There is no turn 5: the session has 3 turns.'],
    ['0', 'There is no turn 0: the session has 3 turns.'],
    ['x', 'does not have a turn x.'],
  ])('fork --turn %s is refused with a sentence', async (turn, problem) => {
    expect(await home.play('fork', sessionId, '--turn', turn)).toEqual(refused(1, problem));
  });
});

test('`steer` sends a message with files to the running turn, and prints the turn’s id', async () => {
  writeFileSync(join(home.project, 'notes.md'), '# Notes');
  const { requests } = client;
  const { sessionId } = await requests.createSession({ cliType: 'demo', projectDir: home.project });
  await requests.send(sessionId, 'build');
  const turnId = await done('steer', sessionId, 'Mind the tests.', '--attach', 'notes.md');
  const said = async () => {
    const { entries } = await requests.history(sessionId);
    return entries.find((item) => item.type === 'message' && item.content === 'Mind the tests.');
  };
  await expect.poll(said).toMatchObject({
    turnId,
    delivery: 'taken',
    blocks: [{ type: 'resource', resource: { name: 'notes.md' } }],
  });
});
