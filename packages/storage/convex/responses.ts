/**
 * Saves Responses. A mutation is atomic but cannot be as large as a Response: a large Response is written in steps, as
 * items of a generation that is not read until the last step makes it the run's generation.
 */
import { makeFunctionReference } from 'convex/server';
import type { Infer } from 'convex/values';
import { v } from 'convex/values';
import { isDeleted } from './deleted.ts';
import { messageFields, rowFields } from './schema.ts';
import type { Doc, MutationCtx, QueryCtx } from './server.ts';
import { again, assertSecret, internalMutation, mutation } from './server.ts';
import { outdate, tidyRun } from './tidying.ts';

const row = v.object(rowFields);

const run = v.object({
  message: v.object(messageFields),
  revision: v.string(),
  /** The revision that `rows` change; absent if `rows` are all items of the run. */
  base: v.optional(v.string()),
  /** The generation in which the items were staged; if it is given, `rows` is empty. */
  staged: v.optional(v.number()),
  rows: v.array(row),
});

const tidyLater = makeFunctionReference<'mutation', { runIds: string[] }>('responses:tidy');

/** Saves all of these runs or none; a run that is older than the stored one changes nothing. Throws `AGAIN`. */
export const save = mutation({
  args: { secret: v.string(), runs: v.array(run) },
  returns: v.null(),
  handler: async (ctx, { secret, runs }) => {
    assertSecret(secret);
    const replaced: string[] = [];
    for (const each of runs) {
      if (await saveRun(ctx, each)) replaced.push(each.message.runId);
    }
    if (replaced.length > 0) await ctx.scheduler.runAfter(0, tidyLater, { runIds: replaced });
    return null;
  },
});

/**
 * Begins to stage a run's items, and returns their generation. If another writer is staging items of the same run,
 * that writer must start over.
 */
export const begin = mutation({
  args: { secret: v.string(), runId: v.string() },
  returns: v.number(),
  handler: async (ctx, { secret, runId }) => {
    assertSecret(secret);
    const write = await findWrite(ctx, runId);
    const generation = nextGeneration(await findMessage(ctx, runId), write);
    if (write) await ctx.db.patch(write._id, { generation });
    else await ctx.db.insert('writes', { runId, generation });
    return generation;
  },
});

/** Stages some of a run's items. Throws `AGAIN`. */
export const stage = mutation({
  args: { secret: v.string(), runId: v.string(), generation: v.number(), rows: v.array(row) },
  returns: v.null(),
  handler: async (ctx, { secret, runId, generation, rows }) => {
    assertSecret(secret);
    await assertStaging(ctx, runId, generation);
    await addRows(ctx, runId, generation, rows);
    return null;
  },
});

/** Deletes items of these runs that are no longer read, a few per call. */
export const tidy = internalMutation({
  args: { runIds: v.array(v.string()) },
  returns: v.null(),
  handler: async (ctx, { runIds }) => {
    const [runId, ...rest] = runIds;
    if (runId === undefined) return null;
    const left = (await tidyRun(ctx, runId)) ? rest : runIds;
    if (left.length > 0) await ctx.scheduler.runAfter(0, tidyLater, { runIds: left });
    return null;
  },
});

/** Saves one run. Returns true if the run may now have items that no reader reads. */
async function saveRun(ctx: MutationCtx, each: Infer<typeof run>): Promise<boolean> {
  const { message, revision } = each;
  if (await isDeleted(ctx, message.threadId)) return dropStaged(ctx, each);
  const stored = await findMessage(ctx, message.runId);
  if (stored && stored.lastSeq > message.lastSeq) return each.staged !== undefined;
  const generation = await placeItems(ctx, each, stored);
  const order = stored?.order ?? (await nextOrder(ctx, message.threadId));
  const fields = { ...message, revision, generation, order };
  if (stored) await ctx.db.replace(stored._id, fields);
  else await ctx.db.insert('messages', fields);
  return each.staged !== undefined || (stored !== null && stored.generation !== generation);
}

/** Drops a run's staged items. Returns true if any were staged. */
async function dropStaged(
  ctx: MutationCtx,
  { message, staged }: Infer<typeof run>,
): Promise<boolean> {
  if (staged === undefined) return false;
  await outdate(ctx, message.runId, staged);
  return true;
}

/** Stores the run's items. Returns their generation. */
async function placeItems(
  ctx: MutationCtx,
  { message, base, staged, rows }: Infer<typeof run>,
  stored: Doc<'messages'> | null,
): Promise<number> {
  const { runId, itemCount } = message;
  if (staged !== undefined) {
    await assertStaging(ctx, runId, staged);
    return staged;
  }
  if (base === undefined) {
    const generation = nextGeneration(stored, await findWrite(ctx, runId));
    await addRows(ctx, runId, generation, rows);
    return generation;
  }
  if (stored?.revision !== base) throw again();
  for (const { index, part } of rows) {
    if (part === 0) await deleteItems(ctx, stored, index, index + 1);
  }
  await deleteItems(ctx, stored, itemCount, stored.itemCount);
  await addRows(ctx, runId, stored.generation, rows);
  return stored.generation;
}

async function addRows(
  ctx: MutationCtx,
  runId: string,
  generation: number,
  rows: Infer<typeof row>[],
): Promise<void> {
  for (const { index, part, text, words, callHash } of rows) {
    const item = { runId, generation, index, part, text };
    await ctx.db.insert('items', callHash === undefined ? item : { ...item, callHash });
    if (words) await ctx.db.insert('words', { runId, generation, index, words });
  }
}

/** Deletes the items from one index up to (not including) another. */
async function deleteItems(
  ctx: MutationCtx,
  { runId, generation, itemCount }: { runId: string; generation: number; itemCount: number },
  from: number,
  to: number,
): Promise<void> {
  if (from >= Math.min(to, itemCount)) return;
  for (const table of ['items', 'words'] as const) {
    const found = ctx.db
      .query(table)
      .withIndex('by_place', (place) =>
        place.eq('runId', runId).eq('generation', generation).gte('index', from).lt('index', to),
      );
    for (const { _id } of await found.collect()) await ctx.db.delete(_id);
  }
}

async function assertStaging(ctx: QueryCtx, runId: string, generation: number): Promise<void> {
  if ((await findWrite(ctx, runId))?.generation !== generation) throw again();
}

/** A generation greater than all earlier ones. */
function nextGeneration(
  stored: Doc<'messages'> | null,
  write: Pick<Doc<'writes'>, 'generation'> | null,
): number {
  return Math.max(stored?.generation ?? 0, write?.generation ?? 0) + 1;
}

async function nextOrder(ctx: QueryCtx, threadId: string): Promise<number> {
  const last = await ctx.db
    .query('messages')
    .withIndex('by_threadId', (place) => place.eq('threadId', threadId))
    .order('desc')
    .first();
  return last ? last.order + 1 : 0;
}

async function findMessage(ctx: QueryCtx, runId: string) {
  return ctx.db
    .query('messages')
    .withIndex('by_runId', (place) => place.eq('runId', runId))
    .unique();
}

async function findWrite(ctx: QueryCtx, runId: string) {
  return ctx.db
    .query('writes')
    .withIndex('by_runId', (place) => place.eq('runId', runId))
    .unique();
}
