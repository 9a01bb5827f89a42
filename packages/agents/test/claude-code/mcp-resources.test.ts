/** A message that mentions an MCP server's resource, `@server:uri`: in Claude Code's own terminal and in Liminal. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claudeEnvironment, type MessagesRequest, noteKeeper, reply } from '@liminal/testkit';
import { Terminal } from '@liminal/testkit/terminal';
import { expect, onTestFinished, test } from 'vitest';
import { installedClaude } from '../../src/kinds/claude-code/program.ts';
import { endTree } from '../../src/process/index.ts';
import { runClaude } from './running-claude.ts';

const note = 'The pears are ripe.';
const words = 'Read @keeper:notes://today and say.';
const files = { '.mcp.json': JSON.stringify({ mcpServers: { keeper: noteKeeper(note) } }) };
const config = { 'settings.json': JSON.stringify({ enableAllProjectMcpServers: true }) };

/** The newest request with this message. */
const heard = (requests: readonly MessagesRequest[]): string =>
  requests.map(({ body }) => JSON.stringify(body)).findLast((text) => text.includes(words)) ?? '';

test('only the terminal reads the resource for the model; in Liminal the model can read it with a tool', async () => {
  const { api, workspace, create, provider } = await runClaude(() => () => reply('Yes.'), {
    files,
    config,
  });
  const { home, projectDir } = workspace;
  const listener = await create();
  await expect
    .poll(() => provider.listMcpServers(listener.sessionId), { timeout: 60_000 })
    .toMatchObject([{ name: 'keeper', state: 'connected' }]);
  await listener.ask(words);
  const here = heard(api.requests);
  // If this fails, the program reads resources also outside its terminal: then the web page can offer them.
  expect(here).not.toContain(note);
  expect(here).toContain('ReadMcpResourceTool');

  // A running Claude Code writes its own state into the file below.
  await provider.killSession(listener.sessionId);
  const state = {
    hasCompletedOnboarding: true,
    customApiKeyResponses: { approved: ['scripted'], rejected: [] },
    projects: { [projectDir]: { hasTrustDialogAccepted: true } },
  };
  await writeFile(join(home, '.claude', '.claude.json'), JSON.stringify(state));
  const before = api.requests.length;
  const program = installedClaude()?.path ?? 'claude';
  const env = claudeEnvironment(home, api.url);
  const terminal = new Terminal([program], { cwd: projectDir, env });
  onTestFinished(async () => void (await endTree({ child: terminal.child })));
  const type = async (text: string): Promise<void> => {
    terminal.press(text);
    await terminal.shows((screen) => screen.includes(text));
  };
  await terminal.shows(/❯/);
  await type('/mcp');
  terminal.press('\r');
  await terminal.shows(/✔ keeper +5 tools/);
  terminal.press('\u001b');
  await terminal.shows((screen) => !screen.includes('MCP servers'));
  await type('Read @keeper');
  await terminal.shows(/◇ keeper:notes:\/\/today/);
  await type(':notes://today and say.');
  terminal.press('\r');
  await terminal.shows(/Read MCP resource today from keeper/);
  await expect.poll(() => heard(api.requests.slice(before)), { timeout: 60_000 }).toContain(note);
});
