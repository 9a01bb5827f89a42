/** Reading Responses: what is larger than one call may give comes in several, all of one revision. */
import { v } from 'convex/values';
import type { Doc, QueryCtx } from './server.ts';
import { again, assertSecret, CALL_MAX, query } from './server.ts';
import type { PageRun } from '../src/store/item-page.ts';
import { pageOfItems } from '../src/store/item-page.ts';

/** Items of a run from one index up to (not including) another, as they were at a revision. */
const range = v.object({
  runId: v.string(),
  revision: v.string(),
  from: v.number(),
  to: v.number(),
  /** Parts of the first item that the reader has already. */
  parts: v.number(),
});
type Range = typeof range.type;

/** Items that one call gives. */
const ROWS_MAX = 4_000;

export const head = query({
  args: { secret: v.string(), runId: v.string() },
  returns: v.union(v.null(), v.object({ head: v.string(), items: range })),
  handler: async (ctx, { secret, runId }) => {
    assertSecret(secret);
    const message = await find(ctx, runId);
    if (!message) return null;
    return { head: message.head, items: rangeOf(message, 0, message.itemCount) };
  },
});

/** Heads of a session's runs, oldest first, from a run on; null if it is not one of them. `next` begins the rest. */
export const runs = query({
  args: { secret: v.string(), threadId: v.string(), fromRunId: v.optional(v.string()) },
  returns: v.union(
    v.null(),
    v.object({ heads: v.array(v.string()), next: v.union(v.string(), v.null()) }),
  ),
  handler: async (ctx, { secret, threadId, fromRunId }) => {
    assertSecret(secret);
    const from = fromRunId === undefined ? undefined : await findIn(ctx, threadId, fromRunId);
    if (from === null) return null;
    const found = ctx.db
      .query('messages')
      .withIndex('by_threadId', (place) =>
        place.eq('threadId', threadId).gte('order', from?.order ?? 0),
      );
    const heads: string[] = [];
    let size = 0;
    for await (const message of found) {
      if (size > CALL_MAX || heads.length === ROWS_MAX) return { heads, next: message.runId };
      heads.push(message.head);
      size += message.head.length;
    }
    return { heads, next: null };
  },
});

/** What the newest `limit` items of a session before a place are, and the heads that belong with them. */
export const page = query({
  args: {
    secret: v.string(),
    threadId: v.string(),
    before: v.optional(v.object({ runId: v.string(), index: v.number() })),
    limit: v.number(),
  },
  returns: v.object({ ranges: v.array(range), heads: v.array(v.string()), hasMore: v.boolean() }),
  handler: async (ctx, { secret, threadId, before, limit }) => {
    assertSecret(secret);
    const place = before && (await findIn(ctx, threadId, before.runId));
    if (place === null) return { ranges: [], heads: [], hasMore: false };
    const pageRuns: PageRun<string, Range>[] = [];
    let room = limit;
    const found = ctx.db
      .query('messages')
      .withIndex('by_threadId', (run) =>
        run.eq('threadId', threadId).lte('order', place?.order ?? Infinity),
      )
      .order('desc');
    for await (const message of found) {
      const isPlace = message.runId === place?.runId;
      const end = isPlace ? (before?.index ?? 0) : Infinity;
      // A run is left out when nothing of it lies before the place: an earlier page has shown it.
      if (end <= 0) continue;
      const run = pageRun(message, Math.min(end, message.itemCount));
      pageRuns.push(run);
      // The first run with items beyond the page shows that there is more.
      if (room <= 0 && run.count > 0) break;
      room -= run.count;
    }
    const { items, heads, hasMore } = pageOfItems(pageRuns, { limit });
    return { ranges: items, heads, hasMore };
  },
});

/** Parts of items in order, as many as one call may give; `rest` is what is left. Throws `AGAIN`. */
export const items = query({
  args: { secret: v.string(), ranges: v.array(range) },
  returns: v.object({
    rows: v.array(v.object({ runId: v.string(), index: v.number(), text: v.string() })),
    rest: v.array(range),
  }),
  handler: async (ctx, { secret, ranges }) => {
    assertSecret(secret);
    const rows: { runId: string; index: number; text: string }[] = [];
    let size = 0;
    for (const [at, each] of ranges.entries()) {
      const { runId, revision, from, to, parts } = each;
      const message = await find(ctx, runId);
      if (message?.revision !== revision) throw again();
      const found = ctx.db
        .query('items')
        .withIndex('by_place', (place) =>
          place
            .eq('runId', runId)
            .eq('generation', message.generation)
            .gte('index', from)
            .lt('index', to),
        );
      for await (const { index, part, text } of found) {
        if (index === from && part < parts) continue;
        if (size > CALL_MAX || rows.length === ROWS_MAX) {
          const left = { ...each, from: index, parts: part };
          return { rows, rest: [left, ...ranges.slice(at + 1)] };
        }
        rows.push({ runId, index, text });
        size += text.length;
      }
    }
    return { rows, rest: [] };
  },
});

function pageRun(message: Doc<'messages'>, count: number): PageRun<string, Range> {
  return {
    head: () => message.head,
    count,
    items: (from, to) => [rangeOf(message, from, to)],
    sizes: () => [],
  };
}

function rangeOf({ runId, revision }: Doc<'messages'>, from: number, to: number): Range {
  return { runId, revision, from, to, parts: 0 };
}

async function findIn(ctx: QueryCtx, threadId: string, runId: string) {
  const message = await find(ctx, runId);
  return message?.threadId === threadId ? message : null;
}

async function find(ctx: QueryCtx, runId: string) {
  return ctx.db
    .query('messages')
    .withIndex('by_runId', (place) => place.eq('runId', runId))
    .unique();
}
