/** Seed 001's table of Responses (appendix 4), in this project's terms, and the other tables. */
import type { DataModelFromSchemaDefinition } from 'convex/server';
import { defineSchema, defineTable } from 'convex/server';
import { v } from 'convex/values';

/** A Response without its items. Fields that only Liminal reads are in `head`. */
export const messageFields = {
  runId: v.string(),
  turnId: v.string(),
  /** The session's id. */
  threadId: v.string(),
  agentId: v.optional(v.string()),
  modelId: v.string(),
  providerId: v.string(),
  status: v.union(
    v.literal('queued'),
    v.literal('in_progress'),
    v.literal('complete'),
    v.literal('error'),
    v.literal('aborted'),
  ),
  createdAt: v.number(),
  updatedAt: v.number(),
  lastSeq: v.number(),
  /** Tokens of the turn, for queries by others; `inputTokens` are all input tokens, including cached ones. */
  usage: v.optional(
    v.object({ inputTokens: v.number(), outputTokens: v.number(), totalTokens: v.number() }),
  ),
  finishReason: v.optional(v.string()),
  error: v.optional(v.object({ code: v.string(), message: v.string() })),
  /** The whole Response without its items, as JSON, for Liminal itself. */
  head: v.string(),
  itemCount: v.number(),
};

/** A part of an item: a document has at most 1 MiB, an item may have more. */
export const rowFields = {
  index: v.number(),
  part: v.number(),
  /** This part of the item's JSON. */
  text: v.string(),
  /** In the first part of a final item: its words, separated by spaces. */
  words: v.optional(v.string()),
  /** In the first part: a hash of the call key that a call, its outputs and its permission requests share. */
  callHash: v.optional(v.string()),
};

export const sessionFields = {
  sessionId: v.string(),
  projectId: v.string(),
  active: v.boolean(),
  createdAt: v.string(),
  updatedAt: v.string(),
  fence: v.number(),
  titleWords: v.string(),
};

const schema = defineSchema({
  messages: defineTable({
    ...messageFields,
    /** The run's index in its session, from 0. */
    order: v.number(),
    /** The generation of the run's current items. */
    generation: v.number(),
    /** A new value after each save. */
    revision: v.string(),
  })
    .index('by_runId', ['runId'])
    .index('by_threadId', ['threadId', 'order'])
    .index('by_turnId', ['turnId']),

  items: defineTable({
    runId: v.string(),
    generation: v.number(),
    index: v.number(),
    part: v.number(),
    text: v.string(),
    callHash: v.optional(v.string()),
  })
    .index('by_place', ['runId', 'generation', 'index', 'part'])
    .index('by_call', ['runId', 'generation', 'callHash', 'index']),

  words: defineTable({
    runId: v.string(),
    generation: v.number(),
    index: v.number(),
    words: v.string(),
  })
    .index('by_place', ['runId', 'generation', 'index'])
    .searchIndex('search_words', { searchField: 'words' }),

  /** The newest generation of a run for which writing has begun. */
  writes: defineTable({ runId: v.string(), generation: v.number() }).index('by_runId', ['runId']),

  sessions: defineTable(sessionFields)
    .index('by_sessionId', ['sessionId'])
    .index('by_time', ['updatedAt', 'createdAt'])
    .searchIndex('search_title', { searchField: 'titleWords', filterFields: ['projectId'] }),

  /** The ids of deleted sessions, which must not be stored again. */
  deletedSessions: defineTable({ sessionId: v.string() }).index('by_sessionId', ['sessionId']),

  /** The grants of projects, each as JSON. */
  grants: defineTable({ projectId: v.string(), rule: v.string(), record: v.string() }).index(
    'by_project',
    ['projectId'],
  ),

  /** A session's record as JSON, in parts: its queue may be larger than one document. */
  records: defineTable({ sessionId: v.string(), part: v.number(), text: v.string() }).index(
    'by_sessionId',
    ['sessionId', 'part'],
  ),

  /** Blobs: bytes that events refer to by a hash. A blob without a hash is being written. */
  blobs: defineTable({
    hash: v.optional(v.string()),
    mimeType: v.string(),
    /** When the blob was last uploaded, or its writing began, ms since the epoch; absent once a session holds it. */
    waitingSince: v.optional(v.number()),
  })
    .index('by_hash', ['hash'])
    .index('by_time', ['waitingSince']),

  /** The bytes of a blob, in parts, as base64: Convex's clients take much longer for `v.bytes()`. */
  parts: defineTable({ blob: v.id('blobs'), part: v.number(), text: v.string() }).index('by_blob', [
    'blob',
    'part',
  ]),

  /** The holds of sessions on blobs. */
  holds: defineTable({ sessionId: v.string(), blob: v.id('blobs') })
    .index('by_session', ['sessionId', 'blob'])
    .index('by_blob', ['blob']),
});
export default schema;

export type DataModel = DataModelFromSchemaDefinition<typeof schema>;
