import type { McpServers } from '@liminal/protocol';
import type { Tool } from '../tools/index.ts';
import type { McpConnection, McpSurroundings } from './mcp-connection.ts';

/** The tools of the MCP servers that are configured for a session. The servers' programs end with the session. */
export class McpTools {
  readonly #servers: McpServers;
  readonly #surroundings: McpSurroundings;
  #connections: Promise<McpConnection[]> | undefined;
  readonly #closing = new AbortController();

  constructor(servers: McpServers, surroundings: McpSurroundings) {
    this.#servers = servers;
    this.#surroundings = surroundings;
  }

  /**
   * Returns the servers' tools, after connecting to servers that are not connected. Returns no tools once the session
   * is closed. Never rejects.
   */
  async tools(): Promise<Tool[]> {
    const { signal } = this.#closing;
    if (signal.aborted) return [];
    this.#connections ??= this.#open();
    const connections = await this.#connections;
    const start = async (one: McpConnection): Promise<Tool[]> => {
      const found = this.#surroundings.starts.run(this, async () => one.tools(), signal);
      // `found` rejects only if the session was closed.
      return found.catch((): Tool[] => []);
    };
    const tools = (await Promise.all(connections.map(start))).flat();
    // If several tools have the same name, only the first is used, because model servers reject requests with equal
    // names.
    return [...Map.groupBy(tools, ({ name }) => name).values()].flatMap(([first]) => first ?? []);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const connections = (await this.#connections) ?? [];
    await Promise.all(connections.map(async (one) => one.close()));
  }

  /** Returns a connection for each server. Loads the SDK only if there are servers, because the SDK is large. */
  async #open(): Promise<McpConnection[]> {
    const servers = Object.entries(this.#servers);
    if (servers.length === 0) return [];
    const { McpConnection } = await import('./mcp-connection.ts');
    return servers.map(([name, server]) => new McpConnection(name, server, this.#surroundings));
  }
}
