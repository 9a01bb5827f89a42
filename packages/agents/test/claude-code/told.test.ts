/** Changes that Claude Code's own commands make, and the notices about them. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { greeter, reply, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude, messagesOf, shareClaude } from './running-claude.ts';

const settings = { permissions: { allow: ['Bash(sleep:*)'], deny: ['Bash(touch:*)'] } };
const share = shareClaude({ config: { 'settings.json': JSON.stringify(settings) } });

test('/effort changes the setting, and back', async () => {
  const { first, listener } = share(() => []);
  const { configOptions = [] } = await first.until(() =>
    first.updates.find((one) => one.configOptions),
  );
  expect(configOptions.find(({ id }) => id === 'thinking')?.currentValue).toBe('default');
  for (const [effort, value] of [
    ['high', 'high'],
    ['low', 'low'],
    ['auto', 'default'],
  ]) {
    await listener.ask(`/effort ${effort}`);
    await listener.until(() => (listener.option('thinking') === value ? true : undefined));
  }
});

test('/rename sets the session’s title in Liminal, and a title from Liminal is set in Claude Code', async () => {
  const { listener, provider, workspace } = share(() => () => reply('Yes.'));
  await listener.ask('Hello.');
  await listener.ask('/rename Pears and plums');
  await listener.until(() => listener.updates.find(({ title }) => title === 'Pears and plums'));
  await provider.rename(listener.sessionId, 'Quinces');
  const titles = async () =>
    (await provider.listStoredSessions(workspace.projectDir)).map(({ title }) => title);
  expect(await titles()).toEqual(['Quinces']);
});

test('a call that Claude Code’s rules refuse gets a notice', async () => {
  const { listener } = share(() => [
    reply(toolUse('Bash', { command: 'touch pears' })),
    reply('I may not.'),
  ]);
  expect(messagesOf(await listener.ask('Touch it.'))).toContain(
    'system: Claude Code refused a call of Bash without asking. Permission to use Bash with command touch pears has been denied.',
  );
});

test('a goal is shown as a notice until it is cleared', async () => {
  const { listener } = share(() => () => reply('Yes.'));
  const goals = () =>
    (listener.updates.findLast(({ notices }) => notices)?.notices ?? [])
      .map(({ text }) => text)
      .filter((text) => text.startsWith('Goal'));
  await listener.ask('/goal ship it');
  expect(goals()).toEqual([expect.stringMatching(/^Goal: ship it/)]);
  await listener.ask('/goal clear');
  expect(goals()).toEqual([]);
});

test('/clear adds a notice that the model has forgotten, and a fork before it is rejected with the reason', async () => {
  const { listener, provider, workspace } = share(() => () => reply('Yes.'));
  const { turnId } = await listener.send('Remember the pears.');
  await listener.ended(turnId);
  expect(messagesOf(await listener.ask('/clear'))).toEqual([
    'user: /clear',
    'system: A new conversation begins: the model does not know the earlier turns. Files are unchanged.',
  ]);
  await listener.ask('Hello.');
  const present = listener.updates.findLast((one) => one.agentSessionId)?.agentSessionId ?? '';
  await expect(provider.fork(present, workspace.projectDir, turnId)).rejects.toMatchObject({
    code: 'TURN_NOT_STORED',
    message: expect.stringContaining('/clear'),
  });
});

test('a starting MCP server is shown as a notice until it has started', async () => {
  const id = randomUUID();
  const { command, args, env } = greeter();
  const whenOpen = `while [ ! -e open-${id} ]; do sleep 0.1; done; exec "$0" "$@"`;
  const door = { command: '/bin/sh', args: ['-c', whenOpen, command, ...args], env };
  const { create, workspace } = await runClaude(() => [], {
    provider: { mcpServers: { door: { type: 'stdio', ...door } } },
  });
  const listener = await create();
  const notices = () => listener.updates.findLast((one) => one.notices)?.notices ?? [];
  const starting = expect.objectContaining({
    level: 'info',
    text: expect.stringContaining('The MCP server “door” is starting.'),
  });
  await listener.until(() => (notices().length > 0 ? true : undefined));
  expect(notices()).toEqual([starting]);
  await writeFile(join(workspace.projectDir, `open-${id}`), '');
  await listener.until(() => (notices().length === 0 ? true : undefined));
});

test('the notice about a background command that ends at its limit explains how to raise the limit', async () => {
  const { listener, api } = share(() => [
    reply(toolUse('Bash', { command: 'sleep 600', run_in_background: true, timeout: 1_000 })),
    reply('It runs.'),
    reply('It was stopped.'),
  ]);
  await listener.ask('Start it.');
  const notice = await listener.event(
    (payload) => payload.type === 'item_done' && JSON.stringify(payload).includes('time limit'),
  );
  expect(JSON.stringify(notice)).toContain('BASH_DEFAULT_TIMEOUT_MS');
  const tools = api.requests.at(-1)?.body.tools?.find(({ name }) => name === 'Bash');
  // The limits in the notice and the docs.
  expect(JSON.stringify(tools)).toContain('default 1800000 ms, max 7200000 ms');
});

test('Claude Code’s settings can raise the limit of background commands', async () => {
  const day = String(24 * 60 * 60 * 1_000);
  const env = { BASH_DEFAULT_TIMEOUT_MS: day, BASH_MAX_TIMEOUT_MS: day };
  const { create, api } = await runClaude(() => () => reply('Yes.'), {
    config: { 'settings.json': JSON.stringify({ env }) },
  });
  await (await create()).ask('Hello.');
  const tools = api.requests.at(-1)?.body.tools?.find(({ name }) => name === 'Bash');
  expect(JSON.stringify(tools)).toContain(`default ${day} ms, max ${day} ms`);
});
