/** Signing in to an MCP server by OAuth, with the real Codex: its link is opened as a browser opens it. */
import { startSignedInServer } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCodex } from './running-codex.ts';

test('an MCP server that wants a sign-in is signed in to by its link, and is connected then', async () => {
  const door = await startSignedInServer();
  onTestFinished(() => door.close());
  const { create, provider } = await runCodex(() => [], {
    mcpServers: { door: { type: 'http', url: door.url, headers: {} } },
  });
  const { sessionId } = await create();
  const state = async () => {
    const servers = await provider.listMcpServers(sessionId);
    const server = servers.find(({ name }) => name === 'door');
    return server && [server.state, server.actions];
  };
  await expect.poll(state, { timeout: 60_000 }).toEqual(['signed-out', ['sign-in']]);

  const { url } = await provider.changeMcpServer(sessionId, 'door', 'sign-in');
  const page = await fetch(url ?? '');
  expect(page.status).toBe(200);

  await expect.poll(state, { timeout: 60_000 }).toEqual(['connected', []]);
});
