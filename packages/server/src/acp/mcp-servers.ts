import type { McpServer as AcpMcpServer } from '@agentclientprotocol/sdk/unstable';
import { type McpServer, McpServers } from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../errors.ts';

/** The length of the longest name that all agents accept. */
const maxName = 64;

/**
 * Converts a client's MCP servers, with names that all agents accept. Throws a RequestError for a server that no agent
 * can reach.
 */
export function namedMcpServers(servers: readonly AcpMcpServer[] = []): McpServers {
  const named: Record<string, unknown> = {};
  for (const server of servers) named[freeName(server.name, named)] = ours(server);
  const parsed = McpServers.safeParse(named);
  if (parsed.success) return parsed.data;
  throw errors.INVALID_PARAMS.mcpServers(z.prettifyError(parsed.error));
}

/**
 * Returns a name that agents can use in tool names and that is not in `taken`. The name that a client gives a server
 * may be any text.
 */
function freeName(name: string, taken: Readonly<Record<string, unknown>>): string {
  const plain = name.replaceAll(/[^\w-]+/g, '_').slice(0, maxName) || '_';
  let [free, count] = [plain, 1];
  while (Object.hasOwn(taken, free)) {
    const end = `_${(count += 1)}`;
    free = `${plain.slice(0, maxName - end.length)}${end}`;
  }
  return free;
}

function ours(server: AcpMcpServer): McpServer {
  if (!('type' in server)) {
    const { command, args, env } = server;
    return { type: 'stdio', command, args, env: record(env) };
  }
  const { name, type } = server;
  if (type === 'acp') {
    throw errors.INVALID_PARAMS.mcpOverAcp(name);
  }
  return { type, url: server.url, headers: record(server.headers) };
}

const record = (pairs: readonly { name: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
