/**
 * Stores blobs: bytes that events refer to by a hash. A blob is written in steps, as parts of a blob without a hash,
 * which is never read; the last step gives the blob its hash.
 */
import { makeFunctionReference } from 'convex/server';
import type { GenericId } from 'convex/values';
import { getConvexSize, v } from 'convex/values';
import { isDeleted } from './deleted.ts';
import type { Doc, MutationCtx, QueryCtx } from './server.ts';
import { again, assertSecret, callMax, internalMutation, mutation, query } from './server.ts';
import { tidyBlob } from './tidying.ts';

/** The most blobs that one call of `sweep` examines. */
const sweptMax = 500;
/** The most holds that one call ends. */
const holdsMax = 1_000;

const blobId = v.id('blobs');
type BlobId = GenericId<'blobs'>;

const tidyLater = makeFunctionReference<'mutation', { blobs: BlobId[] }>('blobs:tidy');

/**
 * Adds a session's hold on a blob. Without a session, or for a deleted one, the blob waits for a session from `since`
 * on (ms since the epoch). If no blob with the hash is stored, the staged blob gets the hash. Returns the stored
 * media type; null if the blob is not stored and nothing was staged. Throws `AGAIN`.
 */
export const keep = mutation({
  args: {
    secret: v.string(),
    hash: v.string(),
    sessionId: v.optional(v.string()),
    since: v.number(),
    staged: v.optional(blobId),
  },
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, { secret, hash, sessionId, since, staged }) => {
    assertSecret(secret);
    const stored = await findBlob(ctx, hash);
    const blob = stored ?? (staged === undefined ? null : await stagedBlob(ctx, staged));
    if (!blob) return null;
    if (stored && staged !== undefined) await removeBlobs(ctx, [staged]);
    const isHeldNow = sessionId !== undefined && !(await isDeleted(ctx, sessionId));
    const waitingSince = isHeldNow ? stored?.waitingSince : since;
    await ctx.db.patch(blob._id, { hash, waitingSince });
    if (isHeldNow) await addHold(ctx, sessionId, blob._id);
    return blob.mimeType;
  },
});

/** Stages parts of a blob, as base64, and returns the blob's id for further parts. Throws `AGAIN`. */
export const stage = mutation({
  args: {
    secret: v.string(),
    mimeType: v.string(),
    /** The current time, ms since the epoch: a blob that is never finished is swept like an upload. */
    since: v.number(),
    /** The blob's id; absent when the first parts are staged. */
    blob: v.optional(blobId),
    /** The index, in the blob, of the first of `parts`. */
    from: v.number(),
    parts: v.array(v.string()),
  },
  returns: blobId,
  handler: async (ctx, { secret, mimeType, since, blob: begun, from, parts }) => {
    assertSecret(secret);
    const blob =
      begun === undefined
        ? await ctx.db.insert('blobs', { mimeType, waitingSince: since })
        : (await stagedBlob(ctx, begun))._id;
    for (const [at, text] of parts.entries()) {
      await ctx.db.insert('parts', { blob, part: from + at, text });
    }
    return blob;
  },
});

/** The blob with this hash; null if it is not stored. */
export const find = query({
  args: { secret: v.string(), hash: v.string() },
  returns: v.union(v.null(), v.object({ blob: blobId, mimeType: v.string() })),
  handler: async (ctx, { secret, hash }) => {
    assertSecret(secret);
    const stored = await findBlob(ctx, hash);
    return stored && { blob: stored._id, mimeType: stored.mimeType };
  },
});

/**
 * A blob's parts from an index on, as many as one call may return; `next` is the index of the next part, or null.
 * Throws `AGAIN`.
 */
export const read = query({
  args: { secret: v.string(), blob: blobId, from: v.number() },
  returns: v.object({ parts: v.array(v.string()), next: v.union(v.number(), v.null()) }),
  handler: async (ctx, { secret, blob, from }) => {
    assertSecret(secret);
    if (!(await ctx.db.get(blob))) throw again();
    const found = ctx.db
      .query('parts')
      .withIndex('by_blob', (place) => place.eq('blob', blob).gte('part', from));
    const parts: string[] = [];
    let size = 0;
    for await (const { part, text } of found) {
      if (size > callMax) return { parts, next: part };
      parts.push(text);
      size += getConvexSize(text);
    }
    return { parts, next: null };
  },
});

/**
 * Adds a session's holds on all of these blobs, or on none; without a session it adds none. Returns the hashes that are
 * not stored.
 */
export const hold = mutation({
  args: { secret: v.string(), sessionId: v.optional(v.string()), hashes: v.array(v.string()) },
  returns: v.array(v.string()),
  handler: async (ctx, { secret, sessionId, hashes }) => {
    assertSecret(secret);
    const found: Doc<'blobs'>[] = [];
    const missing: string[] = [];
    for (const hash of hashes) {
      const stored = await findBlob(ctx, hash);
      if (stored) found.push(stored);
      else missing.push(hash);
    }
    if (missing.length > 0 || sessionId === undefined) return missing;
    if (await isDeleted(ctx, sessionId)) return [];
    for (const { _id, waitingSince } of found) {
      await addHold(ctx, sessionId, _id);
      if (waitingSince !== undefined) await ctx.db.patch(_id, { waitingSince: undefined });
    }
    return [];
  },
});

const swept = v.object({
  /** How many uploads were removed. */
  count: v.number(),
  /** The cursor for the next call; null at the end. */
  next: v.union(v.string(), v.null()),
});

/**
 * Removes uploads from before a time (ms since the epoch) that no session holds, and blobs that were never finished.
 */
export const sweep = mutation({
  args: { secret: v.string(), before: v.number(), cursor: v.union(v.string(), v.null()) },
  returns: swept,
  handler: async (ctx, { secret, before, cursor }): Promise<typeof swept.type> => {
    assertSecret(secret);
    const { page, isDone, continueCursor } = await ctx.db
      .query('blobs')
      .withIndex('by_time', (time) => time.gt('waitingSince', 0).lt('waitingSince', before))
      .paginate({ cursor, numItems: sweptMax });
    const old: Doc<'blobs'>[] = [];
    for (const blob of page) if (!(await isHeld(ctx, blob._id))) old.push(blob);
    await removeBlobs(
      ctx,
      old.map(({ _id }) => _id),
    );
    const count = old.filter(({ hash }) => hash !== undefined).length;
    return { count, next: isDone ? null : continueCursor };
  },
});

/** Deletes parts of removed blobs, a few per call. */
export const tidy = internalMutation({
  args: { blobs: v.array(blobId) },
  returns: v.null(),
  handler: async (ctx, { blobs }) => {
    const [blob, ...rest] = blobs;
    if (blob === undefined) return null;
    const left = (await tidyBlob(ctx, blob)) ? rest : blobs;
    if (left.length > 0) await ctx.scheduler.runAfter(0, tidyLater, { blobs: left });
    return null;
  },
});

/**
 * Ends up to 1000 holds of a session, and removes the blobs that no session needs any more. Returns true if there may
 * be more holds.
 */
export async function endHolds(ctx: MutationCtx, sessionId: string): Promise<boolean> {
  const holds = await ctx.db
    .query('holds')
    .withIndex('by_session', (index) => index.eq('sessionId', sessionId))
    .take(holdsMax);
  const unneeded: BlobId[] = [];
  for (const { _id, blob } of holds) {
    await ctx.db.delete(_id);
    const isWaiting = (await ctx.db.get(blob))?.waitingSince !== undefined;
    if (!isWaiting && !(await isHeld(ctx, blob))) unneeded.push(blob);
  }
  await removeBlobs(ctx, unneeded);
  return holds.length === holdsMax;
}

/** Removes blobs; their bytes are deleted later. */
async function removeBlobs(ctx: MutationCtx, blobs: BlobId[]): Promise<void> {
  if (blobs.length === 0) return;
  for (const blob of blobs) await ctx.db.delete(blob);
  await ctx.scheduler.runAfter(0, tidyLater, { blobs });
}

async function addHold(ctx: MutationCtx, sessionId: string, blob: BlobId): Promise<void> {
  const held = await ctx.db
    .query('holds')
    .withIndex('by_session', (index) => index.eq('sessionId', sessionId).eq('blob', blob))
    .unique();
  if (!held) await ctx.db.insert('holds', { sessionId, blob });
}

async function isHeld(ctx: QueryCtx, blob: BlobId): Promise<boolean> {
  const held = await ctx.db
    .query('holds')
    .withIndex('by_blob', (index) => index.eq('blob', blob))
    .first();
  return held !== null;
}

async function findBlob(ctx: QueryCtx, hash: string) {
  return ctx.db
    .query('blobs')
    .withIndex('by_hash', (index) => index.eq('hash', hash))
    .unique();
}

/** A blob that is being written. Throws `AGAIN` if the blob was finished or removed in the meantime. */
async function stagedBlob(ctx: QueryCtx, id: BlobId): Promise<Doc<'blobs'>> {
  const blob = await ctx.db.get(id);
  if (!blob || blob.hash !== undefined) throw again();
  return blob;
}
