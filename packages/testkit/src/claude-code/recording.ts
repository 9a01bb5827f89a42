import { z } from 'zod';

/** An action of the host, at its position between the messages. */
const HostAction = z.discriminatedUnion('action', [
  z.object({ action: z.literal('send'), uuid: z.string(), text: z.string() }),
  z.object({ action: z.literal('interrupt') }),
  z.object({
    action: z.literal('permission'),
    toolName: z.string(),
    toolUseId: z.string(),
    allowed: z.boolean(),
  }),
]);

const RecordedEntry = z.union([
  z.object({ host: HostAction }),
  z.object({ sdk: z.looseObject({ type: z.string() }) }),
]);

/** One run of the real Claude Code: every message of its SDK, and between the messages the host's actions. */
export const ClaudeRecording = z.object({
  name: z.string(),
  about: z.string(),
  /** The version of the recorded Claude Code. */
  claudeCode: z.string(),
  entries: z.array(RecordedEntry),
});

export type ClaudeRecording = z.infer<typeof ClaudeRecording>;
export type RecordedEntry = z.infer<typeof RecordedEntry>;
export type HostAction = z.infer<typeof HostAction>;
