import { z } from 'zod';

const RpcMessage = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

/** A line from the agent, a line to the agent, or an event of the agent's process. */
const RecordedLine = z.union([
  z.object({ agent: RpcMessage }),
  z.object({ client: RpcMessage }),
  z.object({ host: z.enum(['started', 'killed']) }),
]);

/** One run of the real `codex app-server`: every line in both directions, with normalised ids and folders. */
export const CodexRecording = z.object({
  name: z.string(),
  about: z.string(),
  /** The name of the recorded program. */
  agent: z.string(),
  /**
   * The time at which each entry was seen, in ms since the program was started. Times are not part of the entries,
   * because they vary from run to run.
   */
  times: z.array(z.number()),
  entries: z.array(RecordedLine),
});

export type CodexRecording = z.infer<typeof CodexRecording>;
export type RecordedLine = z.infer<typeof RecordedLine>;
export type RpcMessage = z.infer<typeof RpcMessage>;
