import { z } from 'zod';

const RpcMessage = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

/** `at` is in ms since the program was started; 0 where times are not compared. */
const RecordedLine = z.union([
  z.object({ at: z.number(), agent: RpcMessage }),
  z.object({ at: z.number(), client: RpcMessage }),
  z.object({ at: z.number(), host: z.enum(['started', 'killed']) }),
]);

/** One run of the real `codex-acp`: every line it said and was told, as JSON-RPC, ids and folders normalised. */
export const CodexRecording = z.object({
  name: z.string(),
  about: z.string(),
  /** What the recorded program calls itself. */
  agent: z.string(),
  entries: z.array(RecordedLine),
});

export type CodexRecording = z.infer<typeof CodexRecording>;
export type RecordedLine = z.infer<typeof RecordedLine>;
export type RpcMessage = z.infer<typeof RpcMessage>;
