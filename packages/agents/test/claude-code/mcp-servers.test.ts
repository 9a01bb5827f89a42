import { greeter, reply, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude } from './running-claude.ts';

test('an MCP server of the configuration is started, and its tool can be called', async () => {
  const call = reply(toolUse('mcp__greeter__greet', { name: 'Ada' }));
  const { create, provider } = await runClaude(() => [call, reply('Done.')], {
    provider: { mcpServers: { greeter: greeter('Good morning') } },
  });
  const listener = await create();
  const { turnId } = await listener.send('Greet Ada.');
  const { payload } = await listener.event((event) => 'approvalId' in event);
  const { approvalId = '' } = payload as { approvalId?: string };
  await provider.answerApproval(listener.sessionId, approvalId, { optionId: 'allow_once' });
  const { outputItems } = await listener.ended(turnId);
  expect(outputItems).toContainEqual(
    expect.objectContaining({ type: 'function_call_output', output: 'Good morning, Ada!' }),
  );
});
