/** Reads facts about the session itself, rather than its turns, from Claude Code's messages. */
import { z } from 'zod';

const Command = z.looseObject({
  name: z.string(),
  description: z.string(),
  argumentHint: z.string().optional(),
  aliases: z.array(z.string()).optional().catch(undefined),
});

const Facts = z.looseObject({
  type: z.literal('system'),
  subtype: z.enum([
    'init',
    'status',
    'commands_changed',
    'elicitation_complete',
    'session_title_changed',
  ]),
  /** The session's title, set by the program or its user. */
  title: z.string().optional().catch(undefined),
  session_id: z.string().optional(),
  permissionMode: z.string().optional(),
  model: z.string().optional(),
  status: z.string().nullish(),
  commands: z.array(Command).optional(),
  elicitation_id: z.string().optional(),
  fast_mode_state: z.string().optional().catch(undefined),
  plugins: z
    .array(z.looseObject({ name: z.string(), source: z.string().optional() }))
    .optional()
    .catch(undefined),
});
export type SessionFacts = z.infer<typeof Facts>;

/** Returns the facts about the session in a message; undefined for most messages. */
export const readFacts = (message: unknown): SessionFacts | undefined =>
  Facts.safeParse(message).data;

/** Returns the permission mode that a process reports when it starts; the SDK's types lack the field. */
export const readStartMode = (started: unknown): string | undefined =>
  z.looseObject({ current_permission_mode: z.string() }).safeParse(started).data
    ?.current_permission_mode;

const LocalResult = z.looseObject({ type: z.literal('result'), num_turns: z.literal(0) });

/**
 * Returns whether a message ends a turn without a model call, in which a command such as /model may have changed
 * settings.
 */
export const isLocalResult = (message: unknown): boolean => LocalResult.safeParse(message).success;
