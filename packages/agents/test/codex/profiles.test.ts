/** The user's profiles, with the real Codex. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, greeter } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { Listener } from '../acp/running-agent.ts';
import { runCodex } from './running-codex.ts';

test('a session with a profile has the profile again after the agent has ended; other sessions do not', async () => {
  const { api, create, provider, workspace } = await runCodex(() => () => answer('Fine.'), {
    mcpServers: { own: greeter() },
  });
  const { home, projectDir } = workspace;
  const profile = ['developer_instructions = "Speak like a pirate."', '[mcp_servers.theirs]'];
  const server = greeter();
  const args = `args = ${JSON.stringify(server.args)}`;
  profile.push(`command = ${JSON.stringify(server.command)}`, args, '[shell_environment_policy]');
  profile.push('set = { SHIP = "Pearl" }');
  await writeFile(join(home, '.codex/pirate.config.toml'), profile.join('\n'));
  await writeFile(join(home, '.codex/no name.config.toml'), '');
  expect((await provider.describe()).profiles).toEqual(['pirate']);

  const listener = new Listener(provider, randomUUID());
  const { sessionId } = listener;
  const config = { profile: 'pirate' };
  await provider.createSession({ sessionId, projectDir, config });
  const newest = () => JSON.stringify(api.requests.at(-1)?.body.input);
  await listener.ask('One.');
  expect(newest()).toContain('Speak like a pirate.');
  const names = async () => (await provider.listMcpServers?.(sessionId))?.map(({ name }) => name);
  await expect.poll(names).toEqual(expect.arrayContaining(['own', 'theirs']));
  const setup = await provider.setup?.(sessionId);
  expect(setup?.facts).toContainEqual({ name: 'Profile', value: 'pirate' });

  await provider.killSession(sessionId);
  await provider.loadSession(sessionId, { projectDir, config });
  await listener.ask('Two.');
  await expect.poll(names).toEqual(expect.arrayContaining(['own', 'theirs']));
  expect(newest()).toContain('Speak like a pirate.');

  const other = await create();
  await other.ask('Three.');
  expect(newest()).not.toContain('Speak like a pirate.');
  await expect(
    provider.createSession({ projectDir, config: { profile: '../secret' } }),
  ).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: 'Codex has no profile “../secret”. Its profiles are: pirate.',
  });
});
