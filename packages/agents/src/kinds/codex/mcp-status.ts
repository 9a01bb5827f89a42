/** The MCP servers of a Codex thread. */
import {
  type McpAction,
  McpActionResult,
  type McpServerState,
  thrownMessage,
} from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../../contract/errors.ts';
import type { AppServer } from './app-server.ts';

const Page = z.looseObject({
  data: z.array(
    z.looseObject({
      name: z.string(),
      runtimeStatus: z.string().nullish().catch(undefined),
      tools: z.record(z.string(), z.unknown()).catch({}),
      toolsError: z.string().nullish().catch(undefined),
      authStatus: z.string().catch('unknown'),
    }),
  ),
  nextCursor: z.string().nullish().catch(undefined),
});
type Server = z.infer<typeof Page>['data'][number];

/** The most pages that are read. */
const mostPages = 20;

export async function listMcpServers(
  server: AppServer,
  threadId: string,
): Promise<McpServerState[]> {
  const servers: Server[] = [];
  let cursor: string | null | undefined;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const params = { threadId, detail: 'toolsAndAuthOnly', cursor };
    const page = Page.parse(await server.request('mcpServerStatus/list', params));
    servers.push(...page.data);
    cursor = page.nextCursor;
    if (cursor == null) break;
  }
  return servers.map(stateOf);
}

function stateOf({ name, runtimeStatus, tools, toolsError, authStatus }: Server): McpServerState {
  const isSignedOut = authStatus === 'notLoggedIn' || runtimeStatus === 'authenticationRequired';
  const known = Object.hasOwn(states, runtimeStatus ?? '')
    ? states[runtimeStatus ?? '']
    : undefined;
  const count = Object.keys(tools).length;
  const state = isSignedOut ? 'signed-out' : (known ?? (count > 0 ? 'connected' : 'unknown'));
  return {
    name,
    state: state === 'connected' && toolsError ? 'failed' : state,
    ...(toolsError && { problem: toolsError }),
    tools: count,
    actions: isSignedOut ? ['sign-in'] : [],
  };
}

const states: Record<string, McpServerState['state']> = {
  notStarted: 'starting',
  starting: 'starting',
  connected: 'connected',
  authenticationRequired: 'signed-out',
  failed: 'failed',
  cancelled: 'failed',
  disabled: 'off',
};

const SignIn = z.looseObject({ authorizationUrl: z.string() });

/** Signs in to an MCP server; Codex has no other action for its servers. Throws ProviderError `INVALID_OPTION`. */
export async function changeMcpServer(
  server: AppServer,
  threadId: string,
  name: string,
  action: McpAction,
): Promise<McpActionResult> {
  try {
    if (action !== 'sign-in')
      throw new Error('MCP servers can only be changed in Codex’ configuration.');
    const answer = await server.request('mcpServer/oauth/login', { threadId, name });
    return McpActionResult.parse({ url: SignIn.parse(answer).authorizationUrl });
  } catch (error) {
    const why = thrownMessage(error);
    throw errors.INVALID_OPTION.mcpServer('Codex', name, why, { cause: error });
  }
}
