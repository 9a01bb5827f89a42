/**
 * A session as a file: JSON Lines. The first line is the header, the second is the session; then come blobs and runs.
 * Each blob comes before the first run that refers to it. Each run is followed by its items and, if they are known, its
 * events. The last line counts runs and blobs. docs/exports.md describes the format for people.
 */
import { z } from 'zod';
import { EventPayload } from '../events.ts';
import { OutputItem } from '../items.ts';
import { Response } from '../response.ts';
import { ForkOrigin } from '../sessions.ts';

/**
 * The version of the format. It also increases if the types of events or items change. A reader must refuse a file with
 * a newer version.
 */
export const exportFormatVersion = 1;

/** The fields of the first line that readers of any version can read. */
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
    /** The version of the session's agent, if it is known. */
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
  /** Whether the session's last turn failed. */
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

/** A run without its items and events; the following lines contain the items and events. */
export const ExportedRun = z.object({
  type: z.literal('run'),
  /** How many items follow. */
  items: Count,
  /** The number of events after the items; absent if the run's events are no longer stored. */
  events: Count.optional(),
  run: Response.omit({ outputItems: true }),
});
export type ExportedRun = z.infer<typeof ExportedRun>;

export const ExportedItem = z.object({ type: z.literal('item'), item: OutputItem });
/**
 * An event without the fields that all events of its run share. The event's `seq` is its position in the run, from 0.
 */
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
  /** For each rule, the number of secrets that it has removed. */
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

/** The server's answer to an import. */
export const ImportResult = z.object({
  sessionId: z.string(),
  cliType: z.string(),
  title: z.string(),
  runs: Count,
  /**
   * Whether the same file was imported before. Then the result is the session of the earlier import, and nothing was
   * added.
   */
  wasThere: z.boolean(),
});
export type ImportResult = z.infer<typeof ImportResult>;

/** Returns the version of a file, from its first line; undefined if that line is not a header. */
export function exportVersion(line: unknown): number | undefined {
  return ExportMark.safeParse(line).data?.version;
}
