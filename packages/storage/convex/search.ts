/** Where words stand. Convex finds what has any of them, best first; the driver looks again. */
import { v } from 'convex/values';
import { assertSecret, CALL_MAX, query } from './server.ts';
import { readRecord } from './sessions.ts';

/** Documents that one search looks at. */
const FOUND_MAX = 256;

/** Records of sessions in whose titles one of the words stands. */
export const titles = query({
  args: { secret: v.string(), words: v.string(), projectId: v.optional(v.string()) },
  returns: v.array(v.array(v.string())),
  handler: async (ctx, { secret, words, projectId }) => {
    assertSecret(secret);
    const found = await ctx.db
      .query('sessions')
      .withSearchIndex('search_title', (index) => {
        const wanted = index.search('titleWords', words);
        return projectId === undefined ? wanted : wanted.eq('projectId', projectId);
      })
      .take(FOUND_MAX);
    const records: string[][] = [];
    let size = 0;
    for (const { sessionId } of found) {
      if (size > CALL_MAX) break;
      const record = await readRecord(ctx, sessionId);
      records.push(record);
      size += record.join('').length;
    }
    return records;
  },
});

const place = v.object({
  threadId: v.string(),
  runId: v.string(),
  revision: v.string(),
  index: v.number(),
  /** When its run was first saved: ms since the epoch. */
  savedAt: v.number(),
});

/** Items in which one of the words stands; some may have changed since. */
export const items = query({
  args: { secret: v.string(), words: v.string(), projectId: v.optional(v.string()) },
  returns: v.array(place),
  handler: async (ctx, { secret, words, projectId }) => {
    assertSecret(secret);
    const found = ctx.db
      .query('words')
      .withSearchIndex('search_words', (index) => index.search('words', words));
    const places: (typeof place.type)[] = [];
    let size = 0;
    for (const each of await found.take(FOUND_MAX)) {
      size += each.words.length;
      if (size > CALL_MAX) break;
      const message = await ctx.db
        .query('messages')
        .withIndex('by_runId', (index) => index.eq('runId', each.runId))
        .unique();
      if (message?.generation !== each.generation) continue;
      const { threadId, runId, revision, _creationTime: savedAt } = message;
      const session =
        projectId === undefined
          ? undefined
          : await ctx.db
              .query('sessions')
              .withIndex('by_sessionId', (index) => index.eq('sessionId', threadId))
              .unique();
      if (session === null || session?.projectId !== projectId) continue;
      places.push({ threadId, runId, revision, index: each.index, savedAt });
    }
    return places;
  },
});
