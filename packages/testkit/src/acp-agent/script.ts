/**
 * What a scripted ACP agent does: JSON, so that it can be handed to its process. Whatever it says to its client is passed
 * on as it stands and checked by nobody: an agent that breaks the protocol is the point.
 *
 * Strings in `update`, `message`, `raw` and `request` may hold `{{cwd}}`, `{{sessionId}}`, `{{prompt}}`, `{{i}}` (in `repeat`),
 * `{{requestId}}` (of the call that is played), and `{{name.path}}`: what the request with that name was answered.
 */
import { z } from 'zod';

const loose = z.record(z.string(), z.unknown());

const Branch = z.strictObject({
  /** A part of the answer's JSON; the first branch that has it, or has no `when`, is played. */
  when: z.string().optional(),
  get steps(): z.ZodArray<typeof Step> {
    return z.array(Step);
  },
});

const Request = z.strictObject({
  /** `session/request_permission`, `fs/read_text_file`, `terminal/create`, `elicitation/create`, … */
  method: z.string(),
  /** `sessionId` is added where there is none. */
  params: loose.optional(),
  /** Given to use one twice, or one of a type that is forbidden; else they count from 1000. */
  id: z.unknown().optional(),
  /** The name of its answer in `{{name.path}}`. */
  as: z.string().optional(),
  /** False: the turn goes on without the answer. */
  wait: z.boolean().optional(),
  onAnswer: z.array(Branch).optional(),
});

const Spawn = z.strictObject({
  /** A program that outlives the test by far, unless given. */
  argv: z.array(z.string()).optional(),
  /** In a session of its own, as a daemon is. */
  detached: z.boolean().optional(),
  ignoresTerm: z.boolean().optional(),
  /** Keeps the agent's stdout open after the agent has gone. */
  holdsStdout: z.boolean().optional(),
});

const Step = z.union([
  /** A chunk of the agent's message. */
  z.strictObject({ say: z.string() }),
  /** A chunk of the agent's thought. */
  z.strictObject({ think: z.string() }),
  /** A `session/update` with this body; for another session than the turn's, if given. */
  z.strictObject({ update: loose, sessionId: z.unknown().optional() }),
  /** Any JSON as a line. */
  z.strictObject({ message: z.unknown() }),
  /** Anything at all; `end` is what closes the line, a line feed unless given. */
  z.strictObject({ raw: z.string(), end: z.string().optional() }),
  /** Bytes in base64, no line feed added: what is no UTF-8. */
  z.strictObject({ bytes: z.string() }),
  z.strictObject({ request: Request }),
  /** Waits until the test opens it. */
  z.strictObject({ gate: z.string() }),
  z.strictObject({ pauseMs: z.number() }),
  /** So many message chunks, so many a second, or as fast as the client reads: see flood.ts. */
  z.strictObject({
    flood: z.strictObject({
      count: z.number().int(),
      text: z.string().optional(),
      rate: z.number().optional(),
    }),
  }),
  /** So many lines of the protocol, most of them broken, the same for the same seed: see fuzz.ts. */
  z.strictObject({
    fuzz: z.strictObject({ seed: z.number().int(), count: z.number().int() }),
  }),
  z.strictObject({
    repeat: z.strictObject({
      times: z.number().int(),
      get steps(): z.ZodArray<typeof Step> {
        return z.array(Step);
      },
    }),
  }),
  /** Answers the prompt; steps may follow it. A turn whose steps are over ends with `end_turn` by itself. */
  z.strictObject({ stop: loose }),
  /** Answers the request with this result. */
  z.strictObject({ result: z.unknown() }),
  /** Answers the request as it is answered where no script says otherwise; more steps may follow it. */
  z.strictObject({ answer: z.literal(true) }),
  /** Answers the request with this error. */
  z.strictObject({
    error: z.strictObject({
      code: z.unknown(),
      message: z.unknown(),
      data: z.unknown().optional(),
    }),
  }),
  /** Ends the process; what was said before reaches the client. */
  z.strictObject({
    exit: z.strictObject({ code: z.number().int().optional(), signal: z.string().optional() }),
  }),
  /** Never answers the request, but listens on: a cancelled turn still ends. */
  z.strictObject({ hang: z.literal(true) }),
  /** Neither reads nor says anything any more, and lives; the test sees it reach the gate `silence`. */
  z.strictObject({ silence: z.literal(true) }),
  z.strictObject({ spawn: Spawn }),
  z.strictObject({ stderr: z.string() }),
]);
export type Step = z.infer<typeof Step>;

const CancelReply = z.enum([
  /** The turn stops, and its prompt is answered `cancelled`. */
  'cancelled',
  /** The turn stops, and its prompt is answered `end_turn`. */
  'end_turn',
  /** The turn stops, and its prompt is answered with an error. */
  'error',
  /** The turn stops, and its prompt is never answered. */
  'never',
  /** The turn goes on as if nobody had asked. */
  'ignore',
]);

const Turn = z.strictObject({
  /** A part of the prompts that it answers; without it, every one that no turn before answers. */
  when: z.string().optional(),
  steps: z.array(Step),
  /** What `session/cancel` does to it; else the script's. */
  cancel: CancelReply.optional(),
  /** Played when it is cancelled, before its prompt is answered. */
  onCancel: z.array(Step).optional(),
});
export type Turn = z.infer<typeof Turn>;

const StoredSession = z.strictObject({
  sessionId: z.string(),
  cwd: z.string(),
  title: z.string().optional(),
  updatedAt: z.string().optional(),
  /** Bodies of `session/update`, which loading replays. */
  updates: z.array(loose).optional(),
});
export type StoredSession = z.infer<typeof StoredSession>;

export const AgentScript = z.strictObject({
  /** Said over what `initialize` is answered by itself, key by key. */
  initialize: loose.optional(),
  /** What `session/new`, `load` and `resume` are answered besides the id: `modes`, `configOptions`, `_meta`, … */
  session: loose.optional(),
  /** Which of these it can do and says so; by itself `load`, `list` and `close`. */
  offers: z
    .strictObject({
      load: z.boolean().optional(),
      list: z.boolean().optional(),
      resume: z.boolean().optional(),
      close: z.boolean().optional(),
      delete: z.boolean().optional(),
      fork: z.boolean().optional(),
    })
    .optional(),
  /** `session/list` gives so many at a time. */
  listPageSize: z.number().int().optional(),
  /** What `session/list` does that names no folder; else it gives the sessions of all. */
  listWithoutFolder: z.enum(['refuse', 'empty']).optional(),
  /** Sessions from before, beside those that its processes have made. */
  sessions: z.array(StoredSession).optional(),
  /** `session/load` is answered first; what it replays follows, with so many ms between. */
  replaysAfterAnswer: z.number().optional(),
  /** A session is stored at its first prompt and not before, as Codex does. */
  storesAtFirstPrompt: z.boolean().optional(),
  /** Sessions are refused (-32000) until `authenticate` has been called, by any process. */
  needsAuth: z.boolean().optional(),
  turns: z.array(Turn).optional(),
  cancel: CancelReply.optional(),
  /** What becomes of a prompt that comes while the session's last one runs; `queue` unless given. */
  secondPrompt: z.enum(['queue', 'error', 'never', 'concurrent']).optional(),
  /** Played when a process starts, before it reads anything. */
  onStart: z.array(Step).optional(),
  /** Played when a method is called, before its usual answer if they give none. */
  on: z.record(z.string(), z.array(Step)).optional(),
  /** Lives on when its stdin ends, as Codex does. */
  outlivesStdin: z.boolean().optional(),
  ignoresTerm: z.boolean().optional(),
});
export type AgentScript = z.infer<typeof AgentScript>;
