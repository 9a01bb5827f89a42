/** Signing in to an MCP server by OAuth, with the real Codex; the test opens the link as a browser does. */
import { startSignedInServer } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCodex } from './running-codex.ts';

test('the link of an MCP server that needs a sign-in signs in and connects the server', async () => {
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
