import { z } from 'zod';

const RpcMessage = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

/** What the agent said, what it was told, and what became of its process. */
const RecordedLine = z.union([
  z.object({ agent: RpcMessage }),
  z.object({ client: RpcMessage }),
  z.object({ host: z.enum(['started', 'killed']) }),
]);

/** One run of the real `codex app-server`: every line it said and was told, ids and folders normalised. */
export const CodexRecording = z.object({
  name: z.string(),
  about: z.string(),
  /** What the recorded program calls itself. */
  agent: z.string(),
  /** When each entry was seen, in ms since the program was started. Apart, since it is never twice the same. */
  times: z.array(z.number()),
  entries: z.array(RecordedLine),
});

export type CodexRecording = z.infer<typeof CodexRecording>;
export type RecordedLine = z.infer<typeof RecordedLine>;
export type RpcMessage = z.infer<typeof RpcMessage>;
