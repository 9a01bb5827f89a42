/** Searches words. Convex finds documents with any of the words, best match first; the driver checks for all words. */
import { getConvexSize, v } from 'convex/values';
import type { Doc, QueryCtx } from './server.ts';
import { assertSecret, callMax, query } from './server.ts';
import { readRecord } from './sessions.ts';

/** The most documents that one search examines. */
const foundMax = 256;

/** Records of sessions whose titles have one of the words. */
export const titles = query({
  args: { secret: v.string(), words: v.string(), projectId: v.optional(v.string()) },
  returns: v.array(v.array(v.string())),
  handler: async (ctx, { secret, words, projectId }) => {
    assertSecret(secret);
    const found = ctx.db.query('sessions').withSearchIndex('search_title', (index) => {
      const wanted = index.search('titleWords', words);
      return projectId === undefined ? wanted : wanted.eq('projectId', projectId);
    });
    const records: string[][] = [];
    let size = 0;
    for await (const session of found) {
      const record = await readRecord(ctx, session.sessionId);
      records.push(record);
      size += getConvexSize(session) + getConvexSize(record);
      if (size > callMax || records.length === foundMax) break;
    }
    return records;
  },
});

const place = v.object({
  threadId: v.string(),
  runId: v.string(),
  revision: v.string(),
  index: v.number(),
  /** When the run was first saved: ms since the epoch. */
  savedAt: v.number(),
});
type ItemPlace = typeof place.type;

/** Items with one of the words. An item may have changed since its words were indexed. */
export const items = query({
  args: { secret: v.string(), words: v.string(), projectId: v.optional(v.string()) },
  returns: v.array(place),
  handler: async (ctx, { secret, words, projectId }) => {
    assertSecret(secret);
    const found = ctx.db
      .query('words')
      .withSearchIndex('search_words', (index) => index.search('words', words));
    const places: ItemPlace[] = [];
    let size = 0;
    let seen = 0;
    // Read the matches one by one, because all of them together could be more than one call may read.
    for await (const { words, ...each } of found) {
      const message = await findMessage(ctx, each.runId);
      size += getConvexSize(words) + getConvexSize(message ?? null);
      if (message?.generation === each.generation && (await isIn(ctx, projectId, message))) {
        const { threadId, runId, revision, _creationTime: savedAt } = message;
        places.push({ threadId, runId, revision, index: each.index, savedAt });
      }
      if (size > callMax || ++seen === foundMax) break;
    }
    return places;
  },
});

async function findMessage(ctx: QueryCtx, runId: string) {
  return ctx.db
    .query('messages')
    .withIndex('by_runId', (index) => index.eq('runId', runId))
    .unique();
}

/** Whether a run belongs to the project; without a project, any run does. Only stored sessions belong to a project. */
async function isIn(
  ctx: QueryCtx,
  projectId: string | undefined,
  { threadId }: Doc<'messages'>,
): Promise<boolean> {
  if (projectId === undefined) return true;
  const session = await ctx.db
    .query('sessions')
    .withIndex('by_sessionId', (index) => index.eq('sessionId', threadId))
    .unique();
  return session?.projectId === projectId;
}
