/** Tests `liminal mcp` with the real Claude Code and an MCP server of the configuration. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiminalClient } from '@liminal/client';
import { claudeEnvironment, greeter, startMessagesApi } from '@liminal/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, eventually, Home } from './command.ts';

let home: Home;
let client: LiminalClient;
let api: Awaited<ReturnType<typeof startMessagesApi>>;

beforeAll(async () => {
  home = new Home();
  api = await startMessagesApi({ script: [] });
  const settings = { mcpServers: { greeter: greeter() } };
  mkdirSync(home.data, { recursive: true });
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify(settings));
  client = clientOf(await home.serve([], claudeEnvironment(home.folder, api.url)));
});
afterAll(async () => {
  client.close();
  await home.close();
  await api.close();
});

test('`mcp` lists the MCP servers of a session, and can switch a server off', async () => {
  const { sessionId } = await client.requests.createSession({
    cliType: 'claude-code',
    projectDir: home.project,
  });
  const mcp = async (...args: string[]) => home.play('mcp', sessionId, ...args);
  await eventually(async () => (await mcp()).stdout).toMatch(/^greeter: connected, \d+ tools\n$/);
  expect(await mcp('--off', 'greeter')).toEqual({
    exitCode: 0,
    stdout: 'greeter: off\n',
    stderr: '',
  });
  expect(await mcp('--on', 'none')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('“none”') as string,
  });
  expect(await mcp('--on', 'a', '--off', 'b')).toMatchObject({ exitCode: 2, stdout: '' });
});
