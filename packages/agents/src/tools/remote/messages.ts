/**
 * What a server and a worker say to each other of one call:
 *
 * 1. The worker that has got it says `taken`, with a name of its own for this call.
 * 2. The server says `go` to that name, once: so a call that was withdrawn, given up, or handed out twice by whatever
 *    failure begins nowhere, or in one place.
 * 3. The worker says `print` as often as it likes, and at last `result`, `refused` or `failed`; the server may `cancel`.
 *
 * Both say `alive` all the while.
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

export const FromWorker = z.discriminatedUnion('type', [
  z.object({ type: z.literal('alive') }),
  z.object({ type: z.literal('taken'), worker: z.string() }),
  z.object({ type: z.literal('print'), text: z.string() }),
  z.object({ type: z.literal('result'), result: Result }),
  /** A ToolError. */
  z.object({ type: z.literal('refused'), message: z.string() }),
  /** A fault of ours. */
  z.object({ type: z.literal('failed'), message: z.string() }),
]);
export type FromWorker = z.infer<typeof FromWorker>;

export const FromAsker = z.discriminatedUnion('type', [
  z.object({ type: z.literal('alive') }),
  z.object({ type: z.literal('go'), worker: z.string() }),
  z.object({ type: z.literal('cancel') }),
]);
export type FromAsker = z.infer<typeof FromAsker>;

/** Undefined for what is of no known shape, as from another version. */
export function read<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
