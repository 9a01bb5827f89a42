import { expect, test } from 'vitest';
import { namedMcpServers } from './mcp-servers.ts';

const header = { name: 'Authorization', value: 'Bearer x' };

test('MCP servers with any transport are converted to an object whose keys are the servers’ names', () => {
  const env = [{ name: 'KEY', value: 'secret' }];
  const headers = [header];
  expect(
    namedMcpServers([
      { name: 'files', command: '/bin/files', args: ['-a'], env },
      { name: 'web', type: 'http', url: 'https://a.example/mcp', headers },
      { name: 'old', type: 'sse', url: 'http://b.example/sse', headers: [] },
    ]),
  ).toEqual({
    files: { type: 'stdio', command: '/bin/files', args: ['-a'], env: { KEY: 'secret' } },
    web: { type: 'http', url: 'https://a.example/mcp', headers: { Authorization: 'Bearer x' } },
    old: { type: 'sse', url: 'http://b.example/sse', headers: {} },
  });
});

test('names are changed to names that all agents accept, and different names stay different', () => {
  const named = (...names: string[]) =>
    Object.keys(namedMcpServers(names.map((name) => ({ name, command: 'x', args: [], env: [] }))));
  expect(
    named('My Server', 'My.Server', 'a.b.command', '', 'x'.repeat(70), 'x'.repeat(80)),
  ).toEqual([
    'My_Server',
    'My_Server_2',
    'a_b_command',
    '_',
    'x'.repeat(64),
    `${'x'.repeat(62)}_2`,
  ]);
});

test('if no agent can reach a server, the server is rejected with the reason', () => {
  const http = { name: 'web', type: 'http' as const, url: 'file:///etc/passwd', headers: [] };
  expect(() => namedMcpServers([http])).toThrow(/Invalid mcpServers.*web\.url/s);
  const within = { name: 'own', type: 'acp' as const, serverId: '1' };
  expect(() => namedMcpServers([within])).toThrow('The MCP server “own” cannot be used');
});
