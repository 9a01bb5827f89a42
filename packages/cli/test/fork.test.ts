import type { LiminalClient } from '@liminal/client';
import { partOf } from '@liminal/testkit/at-length';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, Home, talked } from './command.ts';

let home: Home;
let client: LiminalClient;
let sessionId: string;

beforeAll(async () => {
  home = new Home();
  client = clientOf(await home.serve());
  sessionId = await talked(client, home.project, 'fix', 'plan', 'build');
});
afterAll(async () => {
  client.close();
  await home.close();
});

/** Runs a command to its end; its output without the last line end. */
async function ran(where: Home, ...args: string[]): Promise<string> {
  const command = where.start(args);
  expect(await command.exitCode).toBe(0);
  return command.stdout.trimEnd();
}

/** What was said in a session, as the server has it. */
const prompts = async (id: string) =>
  (await client.requests.history(id)).entries.flatMap((item) =>
    item.type === 'message' && item.origin === 'user' ? [item.content] : [],
  );

test('fork prints the new session, which ends after a turn by its number, or its id, or the last one', async () => {
  const second = await ran(home, 'fork', sessionId, '--turn', '2');
  expect(second).toMatch(/^[\da-f-]{36}$/);
  expect(await prompts(second)).toEqual(['fix', 'plan']);
  expect(await prompts(await ran(home, 'fork', sessionId))).toEqual(['fix', 'plan', 'build']);
  const { turns } = await client.requests.history(sessionId);
  const byId = await ran(home, 'fork', sessionId, '--turn', turns[0]!.turnId);
  expect(await prompts(byId)).toEqual(['fix']);

  await ran(home, 'run', 'tools', '--session', second);
  expect(await prompts(second)).toEqual(['fix', 'plan', 'tools']);
  expect(await prompts(sessionId)).toEqual(['fix', 'plan', 'build']);
});

const wrong = {
  '5': 'There is no turn 5: the session has 3 turns.',
  '0': 'There is no turn 0: the session has 3 turns.',
  x: 'does not have a turn x.',
};
test.each(partOf(wrong, ['5', 'x']))(
  'fork --turn %s says in a sentence what is wrong',
  async (turn, problem) => {
    const command = home.start(['fork', sessionId, '--turn', turn]);
    expect(await command.exitCode).toBe(1);
    expect(command.stdout).toBe('');
    expect(command.stderr).toContain(problem);
  },
);

test('fork without a server is a session of the data folder', async () => {
  const alone = new Home();
  const run = alone.start(['run', 'fix', '--agent', 'demo', '--set', 'pace=instant']);
  const [, id = ''] = await run.says(/^Session (\S+)$/m);
  expect(await run.exitCode).toBe(0);
  const fork = await ran(alone, 'fork', id, '--turn', '1');
  expect(fork).not.toBe(id);
  expect(await ran(alone, 'tail', fork)).toContain('> fix\n');
  await alone.close();
});
