/** Reads `session/list`, page by page. */
import { z } from 'zod';
import type { AcpAgent } from './acp-agent.ts';
import { readRpcError } from './errors.ts';

const Listed = z.looseObject({
  sessionId: z.string(),
  cwd: z.string(),
  title: z.string().nullish().catch(undefined),
  updatedAt: z.iso.datetime({ offset: true }).nullish().catch(undefined),
});
export type Listed = z.infer<typeof Listed>;

const Page = z.looseObject({
  sessions: z.array(z.unknown()),
  nextCursor: z.string().nullish().catch(undefined),
});

const maxPages = 100;
/** The most folders that are listed one by one. */
const maxFolders = 50;

/** Lists all sessions, or else folder by folder: some agents list nothing, or refuse, without a folder. */
export async function listSessions(agent: AcpAgent, folders: readonly string[]): Promise<Listed[]> {
  const all = await readPages(agent).catch((error: unknown) => {
    if (folders.length === 0 || readRpcError(error) === undefined) throw error;
    return [];
  });
  if (all.length > 0) return all;
  const byId = new Map<string, Listed>();
  for (const cwd of folders.slice(0, maxFolders)) {
    for (const one of await readPages(agent, cwd)) byId.set(one.sessionId, one);
  }
  return [...byId.values()];
}

async function readPages(agent: AcpAgent, cwd?: string): Promise<Listed[]> {
  const found: Listed[] = [];
  for await (const page of pages(agent, cwd)) found.push(...page);
  return found;
}

export async function* pages(agent: AcpAgent, cwd?: string): AsyncGenerator<Listed[]> {
  let cursor: string | undefined;
  for (let count = 0; count < maxPages; count += 1) {
    const params = { ...(cwd !== undefined && { cwd }), ...(cursor !== undefined && { cursor }) };
    const page = Page.parse(await agent.request('session/list', params));
    yield page.sessions.flatMap((one) => Listed.safeParse(one).data ?? []);
    if (page.nextCursor === null || page.nextCursor === undefined) return;
    cursor = page.nextCursor;
  }
}
