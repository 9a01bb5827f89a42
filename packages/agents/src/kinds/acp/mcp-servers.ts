import type { McpServer, McpServers } from '@liminal/protocol';
import type { McpServer as AcpMcpServer } from '@agentclientprotocol/sdk';
import { z } from 'zod';

const Capabilities = z
  .looseObject({
    http: z.boolean().catch(false),
    sse: z.boolean().catch(false),
    stdio: z.boolean().catch(true),
  })
  .partial()
  .catch({});

/**
 * Agents that silently skip MCP servers that are programs: Copilot 1.0.102, Cline 3.0.65. The names are those that the
 * agents report.
 */
const leaveOutPrograms = new Set(['copilot', 'cline']);

/** Returns the MCP transports that an agent reports. By the protocol every agent supports stdio. */
export function mcpTransports(mcpCapabilities: unknown): McpServer['type'][] {
  const can = Capabilities.parse(mcpCapabilities ?? {});
  const more = (['http', 'sse'] as const).filter((type) => can[type] === true);
  // By the protocol `stdio` is always supported, but an agent may report `stdio: false`.
  return can.stdio === false ? more : ['stdio', ...more];
}

/** Returns the names of the MCP servers that an agent with this name may skip: the servers that are programs. */
export const mayBeLeftOut = (servers: McpServers, agentName = ''): string[] =>
  leaveOutPrograms.has(agentName.toLowerCase())
    ? Object.keys(servers).filter((name) => servers[name]?.type === 'stdio')
    : [];

/**
 * Returns the MCP servers that an agent supports, in ACP's shape (`taken`), and the names of the servers that it does
 * not support (`refused`).
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
