import type { McpServer, McpServers } from '@liminal/protocol';
import type { McpServer as AcpMcpServer } from '@agentclientprotocol/sdk';
import { z } from 'zod';

const Capabilities = z
  .looseObject({ http: z.boolean().catch(false), sse: z.boolean().catch(false) })
  .partial()
  .catch({});

/** How an agent reaches MCP servers, as it says itself. Every agent supports stdio. */
export function mcpTransports(mcpCapabilities: unknown): McpServer['type'][] {
  const can = Capabilities.parse(mcpCapabilities ?? {});
  const more = (['http', 'sse'] as const).filter((type) => can[type] === true);
  return ['stdio', ...more];
}

/**
 * The MCP servers that an agent supports, in ACP's shape, and the names of the others.
 */
export function admitMcpServers(
  servers: McpServers,
  mcpCapabilities: unknown,
): { taken: AcpMcpServer[]; refused: string[] } {
  const transports = mcpTransports(mcpCapabilities);
  const isTaken = ({ type }: McpServer): boolean => transports.includes(type);
  const entries = Object.entries(servers);
  return {
    taken: entries
      .filter(([, server]) => isTaken(server))
      .map(([name, server]) => inAcp(name, server)),
    refused: entries.filter(([, server]) => !isTaken(server)).map(([name]) => name),
  };
}

function inAcp(name: string, server: McpServer): AcpMcpServer {
  if (server.type === 'stdio') {
    const { command, args, env } = server;
    return { name, command, args, env: pairs(env) };
  }
  return { name, type: server.type, url: server.url, headers: pairs(server.headers) };
}

const pairs = (record: Record<string, string>): { name: string; value: string }[] =>
  Object.entries(record).map(([name, value]) => ({ name, value }));
