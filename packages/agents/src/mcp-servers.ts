/** An MCP server for agents: a program to start, or an address. */
export type McpServer =
  | { type: 'stdio'; command: string; args: string[]; env: Record<string, string> }
  | { type: 'http' | 'sse'; url: string; headers: Record<string, string> };

/** By name. */
export type McpServers = Record<string, McpServer>;
