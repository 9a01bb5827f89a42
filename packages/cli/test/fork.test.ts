import { afterEach, beforeEach, expect, test } from 'vitest';
import { Home } from './command.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

/** Runs a command to its end; its output without the last line end. */
async function ran(...args: string[]): Promise<string> {
  const command = home.start(args);
  expect(await command.exitCode).toBe(0);
  return command.stdout.trimEnd();
}

/** A session of the demo with these prompts. */
async function talked(first: string, ...more: string[]): Promise<string> {
  const command = home.start(['run', first, '--agent', 'demo', '--set', 'pace=instant']);
  const [, sessionId = ''] = await command.says(/^Session (\S+)$/m);
  expect(await command.exitCode).toBe(0);
  for (const prompt of more) await ran('run', prompt, '--session', sessionId);
  return sessionId;
}

const prompts = async (sessionId: string) =>
  (await ran('tail', sessionId)).split('\n').filter((line) => line.startsWith('> '));

test('fork prints the new session, which ends after a turn by its number, or its id, or the last one', async () => {
  const sessionId = await talked('fix', 'plan', 'build');

  const second = await ran('fork', sessionId, '--turn', '2');
  expect(second).toMatch(/^[\da-f-]{36}$/);
  expect(await prompts(second)).toEqual(['> fix', '> plan']);
  expect(await prompts(await ran('fork', sessionId))).toEqual(['> fix', '> plan', '> build']);
  const lines = (await ran('tail', sessionId, '--json')).split('\n');
  const { turnId } = JSON.parse(lines[0]!) as { turnId: string };
  expect(await prompts(await ran('fork', sessionId, '--turn', turnId))).toEqual(['> fix']);

  await ran('run', 'tools', '--session', second);
  expect(await prompts(second)).toEqual(['> fix', '> plan', '> tools']);
  expect(await prompts(sessionId)).toEqual(['> fix', '> plan', '> build']);
});

test.each([
  [['--turn', '5'], 'There is no turn 5: the session has 1 turn.'],
  [['--turn', '0'], 'There is no turn 0: the session has 1 turn.'],
  [['--turn', 'x'], 'does not have a turn x.'],
])('fork %j says in a sentence what is wrong', async (args, problem) => {
  const command = home.start(['fork', await talked('explain'), ...args]);
  expect(await command.exitCode).toBe(1);
  expect(command.stdout).toBe('');
  expect(command.stderr).toContain(problem);
});

test('fork beside a server is a session of that server', async () => {
  const { url, token } = await home.serve();
  const fork = await ran('fork', await talked('fix'), '--turn', '1');
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/api/session/${fork}/history`, { headers });
  expect(await answer.json()).toHaveProperty(['entries', 0, 'content'], 'fix');
});
