import { makeFunctionReference } from 'convex/server';
import { getConvexSize, v } from 'convex/values';
import { endHolds } from './blobs.ts';
import { isDeleted, keepDeleted } from './deleted.ts';
import { sessionFields } from './schema.ts';
import type { Doc, MutationCtx, QueryCtx } from './server.ts';
import { assertSecret, callMax, deletedMax, internalMutation, mutation, query } from './server.ts';
import { outdate } from './tidying.ts';

/** The most sessions that one call examines. */
const sessionsMax = 2_000;
/** The most runs that one call deletes with their session. */
const runsMax = 1_000;

const tidy = makeFunctionReference<'mutation', { runIds: string[] }>('responses:tidy');
const continueRemoval = makeFunctionReference<'mutation', { sessionId: string }>(
  'sessions:removeRest',
);

/**
 * Saves a session. Saves nothing if a later owner has stored the session's record (`stale`), or if the session has
 * been deleted.
 */
export const save = mutation({
  args: { secret: v.string(), session: v.object(sessionFields), record: v.array(v.string()) },
  returns: v.union(v.literal('saved'), v.literal('stale'), v.literal('deleted')),
  handler: async (ctx, { secret, session, record }) => {
    assertSecret(secret);
    const { sessionId } = session;
    if (await isDeleted(ctx, sessionId)) return 'deleted';
    const stored = await findSession(ctx, sessionId);
    if (stored && stored.fence > session.fence) return 'stale';
    if (stored) await ctx.db.replace(stored._id, session);
    else await ctx.db.insert('sessions', session);
    await forgetRecord(ctx, sessionId);
    for (const [part, text] of record.entries()) {
      await ctx.db.insert('records', { sessionId, part, text });
    }
    return 'saved';
  },
});

/** Raises a session's fence and returns its record in the same step; null if a later owner has stored the record. */
export const take = mutation({
  args: { secret: v.string(), sessionId: v.string(), fence: v.number() },
  returns: v.union(v.array(v.string()), v.null()),
  handler: async (ctx, { secret, sessionId, fence }) => {
    assertSecret(secret);
    const stored = await findSession(ctx, sessionId);
    if (!stored) return [];
    if (stored.fence > fence) return null;
    await ctx.db.patch(stored._id, { fence });
    return readRecord(ctx, sessionId);
  },
});

/** The parts of a session's record; empty if there is no such session. */
export const get = query({
  args: { secret: v.string(), sessionId: v.string() },
  returns: v.array(v.string()),
  handler: async (ctx, { secret, sessionId }) => {
    assertSecret(secret);
    return readRecord(ctx, sessionId);
  },
});

const place = v.object({ updatedAt: v.string(), createdAt: v.string(), time: v.number() });

/** Session records, newest first, as many as one call may return; the rest comes after `next`. */
export const list = query({
  args: {
    secret: v.string(),
    projectId: v.optional(v.string()),
    active: v.optional(v.boolean()),
    after: v.optional(place),
  },
  returns: v.object({ records: v.array(v.array(v.string())), next: v.union(place, v.null()) }),
  handler: async (ctx, { secret, projectId, active, after }) => {
    assertSecret(secret);
    const records: string[][] = [];
    let size = 0;
    let seen = 0;
    for await (const session of sessionsAfter(ctx, after)) {
      const isWanted =
        (projectId === undefined || session.projectId === projectId) &&
        (active === undefined || session.active === active);
      const record = isWanted ? await readRecord(ctx, session.sessionId) : [];
      if (isWanted) records.push(record);
      size += getConvexSize(session) + getConvexSize(record);
      if (size > callMax || ++seen === sessionsMax) {
        const { updatedAt, createdAt, _creationTime: time } = session;
        return { records, next: { updatedAt, createdAt, time } };
      }
    }
    return { records, next: null };
  },
});

/** Sessions after a place, newest first; sessions before the place are not read. */
async function* sessionsAfter(
  ctx: QueryCtx,
  after: typeof place.type | undefined,
): AsyncGenerator<Doc<'sessions'>> {
  if (after === undefined) {
    yield* ctx.db.query('sessions').withIndex('by_time').order('desc');
    return;
  }
  const { updatedAt, createdAt, time } = after;
  yield* ctx.db
    .query('sessions')
    .withIndex('by_time', (index) =>
      index.eq('updatedAt', updatedAt).eq('createdAt', createdAt).lt('_creationTime', time),
    )
    .order('desc');
  yield* ctx.db
    .query('sessions')
    .withIndex('by_time', (index) => index.eq('updatedAt', updatedAt).lt('createdAt', createdAt))
    .order('desc');
  yield* ctx.db
    .query('sessions')
    .withIndex('by_time', (index) => index.lt('updatedAt', updatedAt))
    .order('desc');
}

/**
 * Deletes a session with up to 1000 of its holds on blobs and up to 1000 of its runs, fewer if the runs are large.
 * Returns true if more must be deleted; that happens later even if the caller does not call again. Items, and the
 * bytes of blobs, are deleted later. If the session is stored, `ids` are stored as the ids of a deleted session.
 */
export const remove = mutation({
  args: { secret: v.string(), sessionId: v.string(), ids: v.array(v.string()) },
  returns: v.boolean(),
  handler: async (ctx, { secret, sessionId, ids }) => {
    assertSecret(secret);
    const stored = await findSession(ctx, sessionId);
    if (stored) {
      await ctx.db.delete(stored._id);
      await keepDeleted(ctx, ids);
    }
    await forgetRecord(ctx, sessionId);
    const hasMore = await removeSome(ctx, sessionId);
    if (stored && hasMore) await ctx.scheduler.runAfter(0, continueRemoval, { sessionId });
    return hasMore;
  },
});

/** Deletes further data of a deleted session until nothing is left. */
export const removeRest = internalMutation({
  args: { sessionId: v.string() },
  returns: v.null(),
  handler: async (ctx, { sessionId }) => {
    if (await removeSome(ctx, sessionId))
      await ctx.scheduler.runAfter(0, continueRemoval, { sessionId });
    return null;
  },
});

/** Ends some holds and deletes some runs of a session. Returns true if there may be more holds or runs. */
async function removeSome(ctx: MutationCtx, sessionId: string): Promise<boolean> {
  const holdsMore = await endHolds(ctx, sessionId);
  const found = ctx.db
    .query('messages')
    .withIndex('by_threadId', (index) => index.eq('threadId', sessionId))
    .order('desc');
  const runIds: string[] = [];
  let size = 0;
  for await (const run of found) {
    await ctx.db.delete(run._id);
    await outdate(ctx, run.runId, run.generation);
    size += getConvexSize(run);
    if (runIds.push(run.runId) === runsMax || size > deletedMax) break;
  }
  if (runIds.length > 0) await ctx.scheduler.runAfter(0, tidy, { runIds });
  return holdsMore || runIds.length === runsMax || size > deletedMax;
}

async function findSession(ctx: QueryCtx, sessionId: string) {
  return ctx.db
    .query('sessions')
    .withIndex('by_sessionId', (index) => index.eq('sessionId', sessionId))
    .unique();
}

export async function readRecord(ctx: QueryCtx, sessionId: string): Promise<string[]> {
  const parts = await ctx.db
    .query('records')
    .withIndex('by_sessionId', (index) => index.eq('sessionId', sessionId))
    .collect();
  return parts.map(({ text }) => text);
}

async function forgetRecord(ctx: MutationCtx, sessionId: string): Promise<void> {
  const parts = ctx.db
    .query('records')
    .withIndex('by_sessionId', (index) => index.eq('sessionId', sessionId));
  for (const { _id } of await parts.collect()) await ctx.db.delete(_id);
}
