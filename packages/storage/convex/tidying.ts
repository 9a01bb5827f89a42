import type { GenericId } from 'convex/values';
import { getConvexSize } from 'convex/values';
import type { MutationCtx } from './server.ts';
import { deletedMax } from './server.ts';

/** The most documents that one call deletes. */
const rowsMax = 500;

/**
 * Deletes a run's items of generations that are neither current nor being written. Returns true if no such items are
 * left.
 */
export async function tidyRun(ctx: MutationCtx, runId: string): Promise<boolean> {
  const message = await ctx.db
    .query('messages')
    .withIndex('by_runId', (place) => place.eq('runId', runId))
    .unique();
  const write = await ctx.db
    .query('writes')
    .withIndex('by_runId', (place) => place.eq('runId', runId))
    .unique();
  const keptGenerations = [message?.generation, write?.generation]
    .filter((generation) => generation !== undefined)
    .toSorted((a, b) => a - b);
  const budget = { rows: rowsMax, bytes: deletedMax };
  // Delete the items before, between and after the generations that stay.
  for (const [at, above] of [-1, ...keptGenerations].entries()) {
    const below = keptGenerations[at] ?? Infinity;
    for (const table of ['items', 'words'] as const) {
      if (!(await deleteBetween(ctx, table, { runId, above, below }, budget))) return false;
    }
  }
  const isWritten = write && (!message || write.generation <= message.generation);
  if (isWritten) await ctx.db.delete(write._id);
  return true;
}

/** Gives the run a newer generation than those of all its writes, finished or not. */
export async function outdate(ctx: MutationCtx, runId: string, generation: number): Promise<void> {
  const write = await ctx.db
    .query('writes')
    .withIndex('by_runId', (index) => index.eq('runId', runId))
    .unique();
  if (!write) await ctx.db.insert('writes', { runId, generation: generation + 1 });
  else {
    const newest = Math.max(generation, write.generation);
    await ctx.db.patch(write._id, { generation: newest + 1 });
  }
}

/** Deletes parts of a removed blob. Returns true if no such items are left. */
export async function tidyBlob(ctx: MutationCtx, blob: GenericId<'blobs'>): Promise<boolean> {
  const found = ctx.db.query('parts').withIndex('by_blob', (place) => place.eq('blob', blob));
  let bytes = deletedMax;
  for await (const part of found) {
    if (bytes <= 0) return false;
    await ctx.db.delete(part._id);
    bytes -= getConvexSize(part);
  }
  return true;
}

async function deleteBetween(
  ctx: MutationCtx,
  table: 'items' | 'words',
  { runId, above, below }: { runId: string; above: number; below: number },
  budget: { rows: number; bytes: number },
): Promise<boolean> {
  const found = ctx.db
    .query(table)
    .withIndex('by_place', (place) =>
      place.eq('runId', runId).gt('generation', above).lt('generation', below),
    );
  for await (const row of found) {
    if (budget.rows <= 0 || budget.bytes <= 0) return false;
    await ctx.db.delete(row._id);
    budget.rows -= 1;
    budget.bytes -= getConvexSize(row);
  }
  return true;
}
