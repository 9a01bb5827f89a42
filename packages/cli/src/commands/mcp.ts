import type { McpAction, McpServerState } from '@liminal/protocol';
import type { Config } from '../config/load.ts';
import { connectTo } from '../connect.ts';
import { oneRow } from '../terminal/rows.ts';

/** Each flag is one kind of change. The flag's value is the name of the MCP server to change. */
export interface McpFlags {
  reconnect?: string;
  on?: string;
  off?: string;
  signIn?: string;
}

/** Prints the state of each MCP server of a session's agent. With a flag, first changes one of the MCP servers. */
export async function mcp(
  sessionId: string,
  { reconnect, on, off, signIn }: McpFlags,
  config: Config,
): Promise<number> {
  const { client, close } = await connectTo(sessionId, config);
  const { requests } = client;
  try {
    const changes = { reconnect, on, off, 'sign-in': signIn } satisfies Record<McpAction, unknown>;
    for (const [action, name] of Object.entries(changes)) {
      if (name === undefined) continue;
      const { url } = await requests.changeMcpServer(sessionId, name, action as McpAction);
      if (url !== undefined) console.log(`Sign in here: ${oneRow(url)}`);
    }
    const { servers } = await requests.mcpServers(sessionId);
    for (const server of servers) console.log(oneRow(serverRow(server)));
    if (servers.length === 0) console.error('The agent has no MCP servers.');
    return 0;
  } finally {
    await close();
  }
}

function serverRow({ name, state, tools, problem }: McpServerState): string {
  const count = tools === undefined ? '' : `, ${tools} ${tools === 1 ? 'tool' : 'tools'}`;
  return `${name}: ${state}${count}${problem === undefined ? '' : `: ${problem}`}`;
}
