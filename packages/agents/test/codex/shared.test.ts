/** All Codex sessions run in one process. */
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { testAtLength } from '@liminal/testkit/at-length';
import { answer, byModelPrompt, execCommand, gate, greeter, message } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { messagesOf } from '../acp/running-agent.ts';
import { processesOf } from '../claude-code/processes.ts';
import { codexProcesses, commandsIn } from './processes.ts';
import { runCodex } from './running-codex.ts';

const patience = { timeout: 30_000, interval: 50 };

const lasting = (name: string) => [
  answer(execCommand(`(setsid sleep 300 &) ; echo $$ > ${name}; exec sleep 300`, { yieldMs: 300 })),
  answer('It runs.'),
];

test('INV-8: the end of a session ends its commands and MCP servers, and other sessions continue', async () => {
  const { create, provider, workspace } = await runCodex(
    () =>
      byModelPrompt({
        one: lasting('one'),
        two: lasting('two'),
        more: [answer('Still here.')],
      }),
    { mcpServers: { own: greeter() } },
  );
  const [one, two] = await Promise.all([create(), create()]);
  await one.ask('Begin one.');
  await two.ask('Begin two.');
  expect(codexProcesses(workspace.home)).toHaveLength(1);
  // Each session has an MCP server, a command, and a process that the command has detached.
  await expect.poll(() => commandsIn(workspace.home), patience).toHaveLength(6);
  const kept = Number(await readFile(join(workspace.projectDir, 'two'), 'utf8'));

  await provider.killSession(one.sessionId);

  await expect.poll(() => commandsIn(workspace.home), patience).toHaveLength(3);
  expect(commandsIn(workspace.home)).toContain(kept);
  expect(messagesOf(await two.ask('One more.'))).toEqual(['user: One more.', 'agent: Still here.']);
  await provider.killSession(two.sessionId);
  expect(processesOf(workspace.home)).toEqual([]);
});

testAtLength('a turn that runs when its session ends sends no more model requests', async () => {
  const { create, provider, api, workspace } = await runCodex(() =>
    byModelPrompt({
      stay: [answer('Here.')],
      begin: [answer(execCommand('sleep 300', { yieldMs: 20_000 })), answer('It was ended.')],
    }),
  );
  const [staying, leaving] = await Promise.all([create(), create()]);
  const turnId = await leaving.send('To begin.');
  await leaving.until(() =>
    leaving
      .of(turnId)
      .some(({ payload }) => payload.type === 'item_start' && payload.itemType === 'function_call'),
  );

  await provider.killSession(leaving.sessionId);

  expect((await leaving.response(turnId)).status).toBe('aborted');
  expect(commandsIn(workspace.home)).toEqual([]);
  expect(messagesOf(await staying.ask('To stay.'))).toContain('agent: Here.');
  expect(api.requests.map(({ prompt }) => prompt)).toEqual(['To begin.', 'To stay.']);
});

test('the end of the process ends the turns of all sessions, and each session continues once it is loaded', async () => {
  const [first, second] = [gate(), gate()];
  const { create, provider, workspace } = await runCodex(() =>
    byModelPrompt({
      'For one': [answer(message(['One', first]))],
      'For two': [answer(message(['Two', second]))],
      'One again': [answer('One again.')],
      'Two again': [answer('Two again.')],
    }),
  );
  const sessions = await Promise.all([create(), create()]);
  const [one, two] = sessions;
  const turns = [await one.send('For one.'), await two.send('For two.')];
  await one.event(turns[0]!, 'item_delta');
  await two.event(turns[1]!, 'item_delta');

  for (const pid of codexProcesses(workspace.home)) process.kill(pid, 'SIGKILL');

  const ended = [await one.response(turns[0]!), await two.response(turns[1]!)];
  expect(ended.map(({ error }) => error?.code)).toEqual(['PROCESS_CRASH', 'PROCESS_CRASH']);
  await Promise.all(sessions.map((session) => session.until(() => session.exits[0])));
  await Promise.all(sessions.map(({ sessionId }) => provider.loadSession(sessionId)));
  expect(messagesOf(await one.ask('One again?'))).toContain('agent: One again.');
  expect(messagesOf(await two.ask('Two again?'))).toContain('agent: Two again.');
  expect(codexProcesses(workspace.home)).toHaveLength(1);
});

test('INV-8: sessions that are killed while they open leave no processes', async () => {
  const { provider, workspace } = await runCodex(() => []);
  const open = (sessionId: string) =>
    provider.createSession({ projectDir: workspace.projectDir, sessionId }).catch((error) => error);
  const opening = ['a', 'b', 'c'].map(open);

  await Promise.all(['a', 'b', 'c'].map((id) => provider.killSession(id)));

  for (const result of await Promise.all(opening)) expect(result).toBeInstanceOf(Error);
  await expect.poll(() => processesOf(workspace.home), patience).toEqual([]);
});
