import { expect, test } from 'vitest';
import { runAgent, messagesOf } from './running-agent.ts';

const mcpServers = {
  files: { type: 'stdio' as const, command: '/usr/bin/files', args: ['--all'], env: { KEY: 'k' } },
  web: { type: 'http' as const, url: 'https://a.example/mcp', headers: { Authorization: 'x' } },
  old: { type: 'sse' as const, url: 'https://a.example/sse', headers: {} },
};
const provider = { mcpServers };
const stdio = {
  name: 'files',
  command: '/usr/bin/files',
  args: ['--all'],
  env: [{ name: 'KEY', value: 'k' }],
};
const http = {
  type: 'http',
  name: 'web',
  url: 'https://a.example/mcp',
  headers: [{ name: 'Authorization', value: 'x' }],
};

test('every session gets the configured MCP servers that the agent supports', async () => {
  const agentCapabilities = { loadSession: true, mcpCapabilities: { http: true } };
  const running = await runAgent({ initialize: { agentCapabilities } }, { provider });
  const listener = await running.create();
  const begun = await running.control.until('session/new');
  expect(begun.params['mcpServers']).toEqual([stdio, http]);

  const first = messagesOf(await listener.ask('Hi.')).join();
  expect(first).toContain('“old”');
  expect(first).not.toContain('“web”');
  expect(messagesOf(await listener.ask('Hi again.')).join()).not.toContain('“old”');

  await running.provider.killSession(listener.sessionId);
  await running.provider.loadSession(listener.sessionId);
  const loaded = await running.control.until('session/load');
  expect(loaded.params['mcpServers']).toEqual([stdio, http]);
});

test('an agent that reports no MCP capabilities gets stdio servers, which every agent supports', async () => {
  const running = await runAgent({ initialize: { agentCapabilities: {} } }, { provider });
  await running.create();
  const begun = await running.control.until('session/new');
  expect(begun.params['mcpServers']).toEqual([stdio]);
});

test('a turn without an answer shows a notice about that, and Liminal’s own warning', async () => {
  const agentCapabilities = { mcpCapabilities: { http: true } };
  const turns = [{ steps: [] }];
  const running = await runAgent({ initialize: { agentCapabilities }, turns }, { provider });
  const words = messagesOf(await (await running.create()).ask('Hi.'));
  expect(words[1]).toContain('“old”');
  expect(words[2]).toBe('system: Scripted ended its turn without an answer.');
});

test('a session warns that Copilot may skip MCP servers that are programs', async () => {
  const agentInfo = { name: 'Copilot', title: 'Copilot', version: '1.0.102' };
  const agentCapabilities = { mcpCapabilities: { http: true } };
  const initialize = { agentInfo, agentCapabilities };
  const running = await runAgent({ initialize }, { provider });
  const listener = await running.create();
  const begun = await running.control.until('session/new');
  expect(begun.params['mcpServers']).toEqual([stdio, http]);
  const first = messagesOf(await listener.ask('Hi.')).join();
  expect(first).toContain('may lack the MCP server “files”');
  expect(first).not.toContain('“web”');
});

test('an agent that reports no stdio support gets no programs, and the session shows a warning about that', async () => {
  const agentCapabilities = { mcpCapabilities: { http: true, stdio: false } };
  const running = await runAgent({ initialize: { agentCapabilities } }, { provider });
  const listener = await running.create();
  const begun = await running.control.until('session/new');
  expect(begun.params['mcpServers']).toEqual([http]);
  expect(messagesOf(await listener.ask('Hi.')).join()).toContain(
    'cannot reach the MCP server “files”',
  );
});
