import type { McpServer } from '@agentclientprotocol/sdk';
import { z } from 'zod';

const Capabilities = z
  .looseObject({ http: z.boolean().catch(false), sse: z.boolean().catch(false) })
  .partial()
  .catch({});

/** The MCP servers that an agent takes, and the names of those that it does not. Every agent takes those on stdio. */
export function admitMcpServers(
  servers: readonly McpServer[],
  mcpCapabilities: unknown,
): { taken: McpServer[]; refused: string[] } {
  const can = Capabilities.parse(mcpCapabilities ?? {});
  const isTaken = (server: McpServer): boolean =>
    !('type' in server) || (server.type === 'http' ? can.http : can.sse) === true;
  return {
    taken: servers.filter(isTaken),
    refused: servers.filter((server) => !isTaken(server)).map(({ name }) => name),
  };
}
