/** The MCP servers of a running Claude Code. */
import type { McpServerStatus, Query } from '@anthropic-ai/claude-agent-sdk';
import {
  type McpAction,
  McpActionResult,
  type McpServerState,
  thrownMessage,
} from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../../contract/errors.ts';

const states: Record<McpServerStatus['status'], Pick<McpServerState, 'state' | 'actions'>> = {
  connected: { state: 'connected', actions: ['reconnect', 'off'] },
  pending: { state: 'starting', actions: ['off'] },
  failed: { state: 'failed', actions: ['reconnect', 'off'] },
  'needs-auth': { state: 'signed-out', actions: ['sign-in', 'off'] },
  disabled: { state: 'off', actions: ['on'] },
};

/** Returns the MCP servers' states, without their configuration, which may contain keys. */
export async function listMcpServers(query: Query): Promise<McpServerState[]> {
  const servers = await query.mcpServerStatus();
  return servers.map(({ name, status, error, tools }) => ({
    name,
    ...(Object.hasOwn(states, status) ? states[status] : { state: 'unknown', actions: [] }),
    ...(error !== undefined && error !== '' && { problem: error }),
    ...(tools !== undefined && { tools: tools.length }),
  }));
}

/** Throws ProviderError `INVALID_OPTION`. */
export async function changeMcpServer(
  query: Query,
  name: string,
  action: McpAction,
): Promise<McpActionResult> {
  try {
    if (action === 'sign-in') return await signIn(query, name);
    if (action === 'reconnect') await query.reconnectMcpServer(name);
    else await query.toggleMcpServer(name, action === 'on');
    return {};
  } catch (error) {
    const why = thrownMessage(error);
    throw errors.INVALID_OPTION.mcpServer('Claude Code', name, why, { cause: error });
  }
}

const SignIn = z.looseObject({ authUrl: z.string().optional() });

/**
 * Starts a sign-in to an MCP server; Claude Code itself waits until the user has signed in. The SDK has this method,
 * but the SDK's types lack it.
 */
async function signIn(query: Query, name: string): Promise<McpActionResult> {
  const ask: unknown = Reflect.get(query, 'mcpAuthenticate');
  if (typeof ask !== 'function')
    throw new Error('This version does not support sign-in to MCP servers.');
  const { authUrl: url } = SignIn.parse(await Reflect.apply(ask, query, [name]));
  return McpActionResult.parse(url === undefined ? {} : { url });
}
