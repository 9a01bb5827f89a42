/** What Claude Code's messages say about the session itself, besides its turns. */
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
  /** Of the session, by the program or its user. */
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

/** What the message says about the session; undefined for most messages. */
export const readFacts = (message: unknown): SessionFacts | undefined =>
  Facts.safeParse(message).data;

/** The mode that a process has begun in; the SDK's types lack it. */
export const readStartMode = (started: unknown): string | undefined =>
  z.looseObject({ current_permission_mode: z.string() }).safeParse(started).data
    ?.current_permission_mode;

const LocalResult = z.looseObject({ type: z.literal('result'), num_turns: z.literal(0) });

/** The end of a turn in which no model was called: a command such as /model may have changed the settings. */
export const isLocalResult = (message: unknown): boolean => LocalResult.safeParse(message).success;
