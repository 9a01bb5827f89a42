import type { McpServer, McpServers, SessionNotice } from '@liminal/protocol';

/**
 * The MCP servers that clients have added to a session. The servers are kept only in memory, because they may contain
 * secrets. Servers from several clients are merged; if two servers have the same name, the newer server replaces the
 * older.
 */
export class NamedMcpServers {
  #servers: McpServers = {};
  /** The servers with which the agent was last started. */
  #taken: McpServers = {};

  add(servers: McpServers): void {
    this.#servers = { ...this.#servers, ...servers };
  }

  /** Returns the servers for an agent that starts now. */
  take(): McpServers {
    this.#taken = this.#servers;
    return this.#taken;
  }

  /** Removes all servers when the session is closed. */
  forget(): void {
    this.#servers = {};
  }

  /**
   * A notice that lists the added servers that the running agent does not have; undefined if the agent has all of them.
   */
  get late(): SessionNotice | undefined {
    const late = Object.entries(this.#servers).filter(
      ([name, server]) => !isSame(server, this.#taken[name]),
    );
    if (late.length === 0) return undefined;
    const names = late.map(([name]) => `“${name}”`).join(', ');
    const text = `The agent was already running when these MCP servers were named: ${names}. It gets them when it is next started. Close the session and open it again to have them now.`;
    return { level: 'info', text };
  }
}

const isSame = (one: McpServer, other: McpServer | undefined): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);
