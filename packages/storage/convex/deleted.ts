import { v } from 'convex/values';
import type { MutationCtx, QueryCtx } from './server.ts';
import { assertSecret, query } from './server.ts';

/** Returns those of the ids that belong to deleted sessions, as their own ids or as their agents' ids. */
export const find = query({
  args: { secret: v.string(), ids: v.array(v.string()) },
  returns: v.array(v.string()),
  handler: async (ctx, { secret, ids }) => {
    assertSecret(secret);
    const found: string[] = [];
    for (const id of ids) if (await isDeleted(ctx, id)) found.push(id);
    return found;
  },
});

export async function isDeleted(ctx: QueryCtx, sessionId: string): Promise<boolean> {
  const found = await ctx.db
    .query('deletedSessions')
    .withIndex('by_sessionId', (index) => index.eq('sessionId', sessionId))
    .first();
  return found !== null;
}

export async function keepDeleted(ctx: MutationCtx, ids: readonly string[]): Promise<void> {
  for (const sessionId of ids) {
    if (!(await isDeleted(ctx, sessionId))) await ctx.db.insert('deletedSessions', { sessionId });
  }
}
