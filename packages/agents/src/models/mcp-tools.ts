import type { McpServers } from '@liminal/protocol';
import type { Tool } from '../tools/index.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { McpLimits } from './mcp-traffic.ts';

export interface McpSurroundings {
  /** Where programs run. */
  projectDir: string;
  /** Variables that they do not see. */
  hiddenVariables: readonly string[];
  /** A server could not be reached, or says something about its end: in a sentence; `undefined` once it is well. */
  onProblem: (server: string, problem: string | undefined) => void;
  /** Default: `mcpLimits`. */
  limits?: Partial<McpLimits>;
}

/** The tools of the configured MCP servers, for one session. Their programs end with it. */
export class McpTools {
  readonly #servers: McpServers;
  readonly #surroundings: McpSurroundings;
  #connections: Promise<McpConnection[]> | undefined;
  #isClosed = false;

  constructor(servers: McpServers, surroundings: McpSurroundings) {
    this.#servers = servers;
    this.#surroundings = surroundings;
  }

  /** Connects to the servers that are not yet; none once it is closed. Never rejects. */
  async tools(): Promise<Tool[]> {
    if (this.#isClosed) return [];
    this.#connections ??= this.#open();
    const connections = await this.#connections;
    return (await Promise.all(connections.map(async (one) => one.tools()))).flat();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connections = (await this.#connections) ?? [];
    await Promise.all(connections.map(async (one) => one.close()));
  }

  /** The SDK is read only where there are servers: it is large. */
  async #open(): Promise<McpConnection[]> {
    const servers = Object.entries(this.#servers);
    if (servers.length === 0) return [];
    const { McpConnection } = await import('./mcp-connection.ts');
    return servers.map(([name, server]) => new McpConnection(name, server, this.#surroundings));
  }
}
