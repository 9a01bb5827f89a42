/**
 * The messages between a server and a worker about one call:
 *
 * 1. A worker that has received the call sends `taken`, with a new name that the worker has made for this call.
 * 2. The server sends `go` to the name of one worker, only once. Therefore a call starts in at most one worker, even if
 *    the call was withdrawn or abandoned, or if a failure gave it to two workers.
 * 3. The worker sends any number of `print`, and finally `result`, `refused` or `failed`; the server may send `cancel`.
 *
 * Both sides send `alive` in regular intervals.
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
  /** The tool failed because Liminal has a fault. */
  z.object({ type: z.literal('failed'), message: z.string() }),
]);
export type WorkerMessage = z.infer<typeof WorkerMessage>;

export const ServerMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('alive') }),
  z.object({ type: z.literal('go'), worker: z.string() }),
  z.object({ type: z.literal('cancel') }),
]);
export type ServerMessage = z.infer<typeof ServerMessage>;

/** Returns the parsed message; undefined if its shape is unknown, for example if another version sent it. */
export function parseMessage<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
