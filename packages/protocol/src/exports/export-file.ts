/**
 * A session as a file: JSON Lines. The first line is the header, the second one the session; then come blobs and runs,
 * each blob before the first run that names it, each run followed by its items and, if they are known, its events; the
 * last line says how many there were. docs/exports.md describes it for people.
 */
import { z } from 'zod';
import { EventPayload } from '../events.ts';
import { OutputItem } from '../items.ts';
import { Response } from '../response.ts';
import { ForkOrigin } from '../sessions.ts';

/** The version of the format, with the vocabulary in it. A reader refuses a newer one. */
export const EXPORT_VERSION = 1;

/** The first line. Readers of any version can read these fields. */
const ExportMark = z.object({ liminal: z.literal('export'), version: z.int().positive() });

const Text = z.string().max(10_000);
const Id = z.string().min(1).max(300);
const Count = z.int().nonnegative();

export const ExportHeader = z.object({
  ...ExportMark.shape,
  /** ISO 8601 UTC. */
  exportedAt: z.iso.datetime(),
  versions: z.object({
    liminal: Text,
    /** Of the session's agent, where it is known. */
    agent: Text.optional(),
  }),
});
export type ExportHeader = z.infer<typeof ExportHeader>;

export const ExportedSession = z.object({
  type: z.literal('session'),
  sessionId: Id,
  cliType: Id,
  projectId: Text,
  projectDir: Text,
  title: Text,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  /** Its last turn failed. */
  failed: z.boolean().optional(),
  forkedFrom: ForkOrigin.optional(),
});
export type ExportedSession = z.infer<typeof ExportedSession>;

export const ExportedBlob = z.object({
  type: z.literal('blob'),
  /** SHA-256 of the bytes, in lower-case hexadecimal. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  mimeType: z.string().regex(/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/),
  /** The bytes in base64. */
  data: z.string(),
});
export type ExportedBlob = z.infer<typeof ExportedBlob>;

/** A run without its items and events, which follow in lines of their own. */
export const ExportedRun = z.object({
  type: z.literal('run'),
  /** How many items follow. */
  items: Count,
  /** How many events follow the items; absent if they are not known any more. */
  events: Count.optional(),
  run: Response.omit({ outputItems: true }),
});
export type ExportedRun = z.infer<typeof ExportedRun>;

export const ExportedItem = z.object({ type: z.literal('item'), item: OutputItem });
/** An event without what all events of its run share. Its `seq` is its place among them, from 0. */
export const ExportedEvent = z.object({
  type: z.literal('event'),
  timestamp: z.iso.datetime(),
  payload: EventPayload,
});

/** The last line. */
export const ExportEnd = z.object({
  type: z.literal('end'),
  runs: Count,
  blobs: Count,
  /** How often each rule has taken a secret out. */
  secrets: z.record(Text, Count),
});
export type ExportEnd = z.infer<typeof ExportEnd>;

/** Any line after the header. */
export const ExportLine = z.discriminatedUnion('type', [
  ExportedSession,
  ExportedBlob,
  ExportedRun,
  ExportedItem,
  ExportedEvent,
  ExportEnd,
]);
export type ExportLine = z.infer<typeof ExportLine>;

/** The answer to an import. */
export const ImportResult = z.object({
  sessionId: z.string(),
  cliType: z.string(),
  title: z.string(),
  runs: Count,
  /** The same file was imported before: this is that session, and nothing was added. */
  wasThere: z.boolean(),
});
export type ImportResult = z.infer<typeof ImportResult>;

/** The version of a file by its first line; undefined if that is no header. */
export function exportVersion(line: unknown): number | undefined {
  return ExportMark.safeParse(line).data?.version;
}
