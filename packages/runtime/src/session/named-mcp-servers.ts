import type { McpServer, McpServers, SessionNotice } from '@liminal/protocol';

/**
 * The MCP servers that a session's clients have named for it. They may hold secrets, so that only the memory has them.
 * Those of several clients stand beside each other; of one name the newest counts.
 */
export class NamedMcpServers {
  #servers: McpServers = {};
  /** Those that the agent was last started with. */
  #taken: McpServers = {};

  name(servers: McpServers): void {
    this.#servers = { ...this.#servers, ...servers };
  }

  /** The agent starts with them. */
  take(): McpServers {
    this.#taken = this.#servers;
    return this.#taken;
  }

  /** Nobody needs them any more. */
  forget(): void {
    this.#servers = {};
  }

  /** Says which of them an agent that runs does not have; undefined if it has all. */
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
