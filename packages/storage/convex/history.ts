/** Reads Responses. If a Response is too large for one call, several calls read it, all from the same revision. */
import { getConvexSize, v } from 'convex/values';
import type { Doc, QueryCtx } from './server.ts';
import { again, assertSecret, callMax, query } from './server.ts';

/** Items of a run from one index up to (not including) another, as of a revision. */
const range = v.object({
  runId: v.string(),
  revision: v.string(),
  from: v.number(),
  to: v.number(),
  /** Only the first `parts` parts of the range's last item; by default all its parts. */
  parts: v.optional(v.number()),
});
type ItemRange = typeof range.type;

const place = v.object({ runId: v.string(), index: v.number() });

const run = v.object({ head: v.string(), items: range });
type Run = typeof run.type;

const row = v.object({ runId: v.string(), index: v.number(), part: v.number(), text: v.string() });
type Row = typeof row.type;

/** The most documents that one call returns. */
const rowsMax = 4_000;

export const head = query({
  args: { secret: v.string(), runId: v.string() },
  returns: v.union(v.null(), run),
  handler: async (ctx, { secret, runId }) => {
    assertSecret(secret);
    const message = await findMessage(ctx, runId);
    return message && runOf(message);
  },
});

/**
 * Heads of a session's runs, oldest first, from a given run on; null if that run is not in the session. If one call
 * cannot return all heads, `next` is where the next call begins.
 */
export const runs = query({
  args: { secret: v.string(), threadId: v.string(), fromRunId: v.optional(v.string()) },
  returns: v.union(
    v.null(),
    v.object({ heads: v.array(v.string()), next: v.union(v.string(), v.null()) }),
  ),
  handler: async (ctx, { secret, threadId, fromRunId }) => {
    assertSecret(secret);
    const from =
      fromRunId === undefined ? undefined : await findMessageOfThread(ctx, threadId, fromRunId);
    if (from === null) return null;
    const found = ctx.db
      .query('messages')
      .withIndex('by_threadId', (index) =>
        index.eq('threadId', threadId).gte('order', from?.order ?? 0),
      );
    const heads: string[] = [];
    let size = 0;
    for await (const message of found) {
      if (size > callMax || heads.length === rowsMax) return { heads, next: message.runId };
      heads.push(message.head);
      size += getConvexSize(message);
    }
    return { heads, next: null };
  },
});

/**
 * Runs of a session, newest first, with their items before a place: the runs of the newest `limit` items, and one more
 * run with items if there are older items. If there are older runs, they come before `next`.
 */
export const page = query({
  args: {
    secret: v.string(),
    threadId: v.string(),
    before: v.optional(place),
    limit: v.number(),
  },
  returns: v.object({ runs: v.array(run), next: v.union(place, v.null()) }),
  handler: async (ctx, { secret, threadId, before, limit }) => {
    assertSecret(secret);
    const from = before && (await findMessageOfThread(ctx, threadId, before.runId));
    if (from === null) return { runs: [], next: null };
    const found = ctx.db
      .query('messages')
      .withIndex('by_threadId', (index) =>
        index.eq('threadId', threadId).lte('order', from?.order ?? Infinity),
      )
      .order('desc');
    const newest: Run[] = [];
    let room = limit;
    let size = 0;
    for await (const message of found) {
      const end = message.runId === from?.runId ? (before?.index ?? 0) : Infinity;
      // A run without items before the place is left out, because an earlier page has shown it.
      if (end <= 0) continue;
      const last = newest.at(-1);
      if (last && (size > callMax || newest.length === rowsMax)) {
        return { runs: newest, next: { runId: last.items.runId, index: 0 } };
      }
      const each = runOf(message, end);
      newest.push(each);
      size += getConvexSize(message);
      if (room <= 0 && each.items.to > 0) break;
      room -= each.items.to;
    }
    return { runs: newest, next: null };
  },
});

/**
 * Parts of items, as many as one call may return, and the last parts of each range first; `rest` are the ranges that
 * must still be read. Throws `AGAIN`.
 */
export const items = query({
  args: { secret: v.string(), ranges: v.array(range) },
  returns: v.object({ rows: v.array(row), rest: v.array(range) }),
  handler: async (ctx, { secret, ranges }) => {
    assertSecret(secret);
    const rows: Row[] = [];
    let size = 0;
    for (const [at, each] of ranges.entries()) {
      const message = await findMessage(ctx, each.runId);
      if (message?.revision !== each.revision) throw again();
      size += getConvexSize(message);
      for await (const { runId, index, part, text } of itemParts(ctx, each, message.generation)) {
        if ((rows.length > 0 && size > callMax) || rows.length === rowsMax) {
          const left = { ...each, to: index + 1, parts: part + 1 };
          return { rows, rest: [left, ...ranges.slice(at + 1)] };
        }
        rows.push({ runId, index, part, text });
        size += getConvexSize(text);
      }
    }
    return { rows, rest: [] };
  },
});

/**
 * The ranges of items with one of these hashes, on one side of an index, at most `most` for each hash; `rest` are the
 * hashes that must still be looked up.
 */
export const calls = query({
  args: {
    secret: v.string(),
    runId: v.string(),
    hashes: v.array(v.string()),
    side: v.union(v.literal('before'), v.literal('from')),
    index: v.number(),
    most: v.number(),
  },
  returns: v.object({ ranges: v.array(range), rest: v.array(v.string()) }),
  handler: async (ctx, { secret, runId, hashes, side, index, most }) => {
    assertSecret(secret);
    const message = await findMessage(ctx, runId);
    if (!message) return { ranges: [], rest: [] };
    const { revision, generation } = message;
    const ranges: ItemRange[] = [];
    let size = 0;
    for (const [at, callHash] of hashes.entries()) {
      if (at > 0 && size > callMax) return { ranges, rest: hashes.slice(at) };
      const own = ctx.db
        .query('items')
        .withIndex('by_call', (place) => {
          const ofCall = place
            .eq('runId', runId)
            .eq('generation', generation)
            .eq('callHash', callHash);
          return side === 'before' ? ofCall.lt('index', index) : ofCall.gte('index', index);
        })
        .order(side === 'before' ? 'desc' : 'asc');
      for (const found of await own.take(most)) {
        size += getConvexSize(found);
        ranges.push({ runId, revision, from: found.index, to: found.index + 1 });
      }
    }
    return { ranges, rest: [] };
  },
});

/** The parts of a range, last one first; reads only the parts that it yields. */
async function* itemParts(
  ctx: QueryCtx,
  { runId, from, to, parts }: ItemRange,
  generation: number,
): AsyncGenerator<Doc<'items'>> {
  if (parts !== undefined) {
    yield* ctx.db
      .query('items')
      .withIndex('by_place', (index) =>
        index
          .eq('runId', runId)
          .eq('generation', generation)
          .eq('index', to - 1)
          .lt('part', parts),
      )
      .order('desc');
  }
  const end = parts === undefined ? to : to - 1;
  if (from >= end) return;
  yield* ctx.db
    .query('items')
    .withIndex('by_place', (index) =>
      index.eq('runId', runId).eq('generation', generation).gte('index', from).lt('index', end),
    )
    .order('desc');
}

/** A run with its items up to (not including) an index. */
function runOf({ runId, revision, head, itemCount }: Doc<'messages'>, end = Infinity): Run {
  return { head, items: { runId, revision, from: 0, to: Math.min(end, itemCount) } };
}

async function findMessageOfThread(ctx: QueryCtx, threadId: string, runId: string) {
  const message = await findMessage(ctx, runId);
  return message?.threadId === threadId ? message : null;
}

async function findMessage(ctx: QueryCtx, runId: string) {
  return ctx.db
    .query('messages')
    .withIndex('by_runId', (place) => place.eq('runId', runId))
    .unique();
}
