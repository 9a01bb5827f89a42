import { makeFunctionReference } from 'convex/server';
import { v } from 'convex/values';
import { sessionFields } from './schema.ts';
import type { MutationCtx, QueryCtx } from './server.ts';
import { assertSecret, CALL_MAX, mutation, query } from './server.ts';

/** Runs that one call deletes with their session. */
const RUNS_MAX = 1_000;

const tidy = makeFunctionReference<'mutation', { runIds: string[] }>('responses:tidy');

/** False if what is stored comes from a later owner. */
export const save = mutation({
  args: { secret: v.string(), session: v.object(sessionFields), record: v.array(v.string()) },
  returns: v.boolean(),
  handler: async (ctx, { secret, session, record }) => {
    assertSecret(secret);
    const { sessionId } = session;
    const stored = await find(ctx, sessionId);
    if (stored && stored.fence > session.fence) return false;
    if (stored) await ctx.db.replace(stored._id, session);
    else await ctx.db.insert('sessions', session);
    await forgetRecord(ctx, sessionId);
    for (const [part, text] of record.entries()) {
      await ctx.db.insert('records', { sessionId, part, text });
    }
    return true;
  },
});

/** Raises a session's fence and gives its record as it is then; null if what is stored comes from a later owner. */
export const take = mutation({
  args: { secret: v.string(), sessionId: v.string(), fence: v.number() },
  returns: v.union(v.array(v.string()), v.null()),
  handler: async (ctx, { secret, sessionId, fence }) => {
    assertSecret(secret);
    const stored = await find(ctx, sessionId);
    if (!stored) return [];
    if (stored.fence > fence) return null;
    await ctx.db.patch(stored._id, { fence });
    return readRecord(ctx, sessionId);
  },
});

/** The parts of a session's record; none if there is no such session. */
export const get = query({
  args: { secret: v.string(), sessionId: v.string() },
  returns: v.array(v.string()),
  handler: async (ctx, { secret, sessionId }) => {
    assertSecret(secret);
    return readRecord(ctx, sessionId);
  },
});

/** Records, newest first, up to what one call may give; `next` begins the rest. */
export const list = query({
  args: {
    secret: v.string(),
    projectId: v.optional(v.string()),
    active: v.optional(v.boolean()),
    skip: v.number(),
  },
  returns: v.object({ records: v.array(v.array(v.string())), next: v.union(v.number(), v.null()) }),
  handler: async (ctx, { secret, projectId, active, skip }) => {
    assertSecret(secret);
    const records: string[][] = [];
    let size = 0;
    let seen = 0;
    for await (const session of ctx.db.query('sessions').withIndex('by_time').order('desc')) {
      if (projectId !== undefined && session.projectId !== projectId) continue;
      if (active !== undefined && session.active !== active) continue;
      if (seen++ < skip) continue;
      if (size > CALL_MAX || records.length === 2_000) return { records, next: seen - 1 };
      const record = await readRecord(ctx, session.sessionId);
      records.push(record);
      size += record.join('').length;
    }
    return { records, next: null };
  },
});

/** Deletes a session with up to 1000 of its runs; true if there are more. Their items go soon after. */
export const remove = mutation({
  args: { secret: v.string(), sessionId: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { secret, sessionId }) => {
    assertSecret(secret);
    const stored = await find(ctx, sessionId);
    if (stored) await ctx.db.delete(stored._id);
    await forgetRecord(ctx, sessionId);
    const runs = await ctx.db
      .query('messages')
      .withIndex('by_threadId', (place) => place.eq('threadId', sessionId))
      .order('desc')
      .take(RUNS_MAX);
    for (const run of runs) {
      await ctx.db.delete(run._id);
      await outdate(ctx, run.runId, run.generation);
    }
    if (runs.length > 0) {
      await ctx.scheduler.runAfter(0, tidy, { runIds: runs.map(({ runId }) => runId) });
    }
    return runs.length === RUNS_MAX;
  },
});

/** Whatever is being written of the run now, or was, is of an earlier generation than what comes next. */
async function outdate(ctx: MutationCtx, runId: string, generation: number): Promise<void> {
  const write = await ctx.db
    .query('writes')
    .withIndex('by_runId', (place) => place.eq('runId', runId))
    .unique();
  if (!write) await ctx.db.insert('writes', { runId, generation: generation + 1 });
  else {
    const newest = Math.max(generation, write.generation);
    await ctx.db.patch(write._id, { generation: newest + 1 });
  }
}

async function find(ctx: QueryCtx, sessionId: string) {
  return ctx.db
    .query('sessions')
    .withIndex('by_sessionId', (place) => place.eq('sessionId', sessionId))
    .unique();
}

export async function readRecord(ctx: QueryCtx, sessionId: string): Promise<string[]> {
  const parts = await ctx.db
    .query('records')
    .withIndex('by_sessionId', (place) => place.eq('sessionId', sessionId))
    .collect();
  return parts.map(({ text }) => text);
}

async function forgetRecord(ctx: MutationCtx, sessionId: string): Promise<void> {
  const parts = ctx.db
    .query('records')
    .withIndex('by_sessionId', (place) => place.eq('sessionId', sessionId));
  for (const { _id } of await parts.collect()) await ctx.db.delete(_id);
}
