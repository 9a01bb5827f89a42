/**
 * The messages between a server and a worker about one call:
 *
 * 1. The worker that has received the call sends `taken`, with a name that it chose for this call.
 * 2. The server sends `go` to that name, once: so a call that was withdrawn or given up, or that a failure handed out twice,
 *    starts in at most one place.
 * 3. The worker sends `print` any number of times, and finally `result`, `refused` or `failed`; the server may send `cancel`.
 *
 * Both send `alive` all the time.
 */
import { ContentBlock, FileDiff, PlanEntry } from '@liminal/protocol';
import { z } from 'zod';

/** The call itself. */
export const Order = z.object({
  tool: z.string(),
  input: z.unknown(),
  projectDir: z.string(),
  additionalDirectories: z.array(z.string()).readonly().optional(),
});
export type Order = z.infer<typeof Order>;

const Result = z.object({
  output: z.string(),
  success: z.boolean(),
  blocks: z.array(ContentBlock).optional(),
  diffs: z.array(FileDiff).optional(),
  exitCode: z.number().nullable().optional(),
  plan: z.array(PlanEntry).optional(),
});

export const WorkerMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('alive') }),
  z.object({ type: z.literal('taken'), worker: z.string() }),
  z.object({ type: z.literal('print'), text: z.string() }),
  z.object({ type: z.literal('result'), result: Result }),
  /** The tool threw a ToolError. */
  z.object({ type: z.literal('refused'), message: z.string() }),
  /** The tool failed because of a fault of Liminal. */
  z.object({ type: z.literal('failed'), message: z.string() }),
]);
export type WorkerMessage = z.infer<typeof WorkerMessage>;

export const ServerMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('alive') }),
  z.object({ type: z.literal('go'), worker: z.string() }),
  z.object({ type: z.literal('cancel') }),
]);
export type ServerMessage = z.infer<typeof ServerMessage>;

/** The message; undefined if its shape is unknown, as from another version. */
export function parseMessage<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
