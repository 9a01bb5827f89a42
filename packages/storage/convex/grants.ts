import { v } from 'convex/values';
import type { QueryCtx } from './server.ts';
import { assertSecret, mutation, query } from './server.ts';

/** A project's grants as JSON, in the order in which they were added. */
export const list = query({
  args: { secret: v.string(), projectId: v.string() },
  returns: v.array(v.string()),
  handler: async (ctx, { secret, projectId }) => {
    assertSecret(secret);
    return (await grantsOf(ctx, projectId)).map(({ record }) => record);
  },
});

/** Adds a grant. Changes nothing if the project has a grant with the same rule. */
export const add = mutation({
  args: { secret: v.string(), projectId: v.string(), rule: v.string(), record: v.string() },
  returns: v.null(),
  handler: async (ctx, { secret, ...grant }) => {
    assertSecret(secret);
    const grants = await grantsOf(ctx, grant.projectId);
    if (!grants.some(({ rule }) => rule === grant.rule)) await ctx.db.insert('grants', grant);
    return null;
  },
});

export const remove = mutation({
  args: { secret: v.string(), projectId: v.string(), rule: v.string() },
  returns: v.null(),
  handler: async (ctx, { secret, projectId, rule }) => {
    assertSecret(secret);
    const grants = await grantsOf(ctx, projectId);
    for (const one of grants) if (one.rule === rule) await ctx.db.delete(one._id);
    return null;
  },
});

/** A project's grants: people make each of them, so there are few. */
async function grantsOf(ctx: QueryCtx, projectId: string) {
  return ctx.db
    .query('grants')
    .withIndex('by_project', (index) => index.eq('projectId', projectId))
    .collect();
}
