/** Signing in to an MCP server by OAuth, with the real Claude Code: the test opens the link as a browser does. */
import { reply, startSignedInServer, toolUse } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runClaude } from './running-claude.ts';

test('after a sign-in through its link, an MCP server’s tool can be called', async () => {
  const door = await startSignedInServer();
  onTestFinished(() => door.close());
  const call = reply(toolUse('mcp__door__greet', {}));
  const { create, provider } = await runClaude(() => [call, reply('Done.')], {
    provider: { mcpServers: { door: { type: 'http', url: door.url, headers: {} } } },
  });
  const listener = await create();
  const { sessionId } = listener;
  const state = async () => {
    const [server] = await provider.listMcpServers(sessionId);
    return server && [server.state, server.actions];
  };
  await expect.poll(state, { timeout: 60_000 }).toEqual(['signed-out', ['sign-in', 'off']]);

  const { url } = await provider.changeMcpServer(sessionId, 'door', 'sign-in');
  const page = await fetch(url ?? '');
  expect(page.status).toBe(200);

  await expect.poll(state, { timeout: 60_000 }).toEqual(['connected', ['reconnect', 'off']]);
  const { turnId } = await listener.send('Greet me.');
  const { payload } = await listener.event((event) => 'approvalId' in event);
  const { approvalId = '' } = payload as { approvalId?: string };
  await provider.answerApproval(sessionId, approvalId, { optionId: 'allow_once' });
  const { outputItems } = await listener.ended(turnId);
  expect(JSON.stringify(outputItems)).toContain('Hello!');
});
