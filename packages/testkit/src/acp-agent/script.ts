/**
 * The script of an ACP agent: JSON, so that it can be passed to its process. Messages to the client are sent unchanged
 * and unchecked: tests use this to break the protocol.
 *
 * Strings in `update`, `message`, `raw` and `request` may contain `{{cwd}}`, `{{sessionId}}`, `{{prompt}}`, `{{i}}` (in
 * `repeat`), `{{requestId}}` (of the call being played), and `{{name.path}}`: a value from the answer to the request
 * with that name.
 */
import { z } from 'zod';

const loose = z.record(z.string(), z.unknown());

const Branch = z.strictObject({
  /**
   * A text that the answer's JSON must contain. The first branch whose text the answer contains, or that has no `when`,
   * is played.
   */
  when: z.string().optional(),
  get steps(): z.ZodArray<typeof Step> {
    return z.array(Step);
  },
});

const Request = z.strictObject({
  /** `session/request_permission`, `fs/read_text_file`, `terminal/create`, `elicitation/create`, … */
  method: z.string(),
  /** `sessionId` is added if it is missing. */
  params: loose.optional(),
  /**
   * The request's id; by default, ids count from 1000. Set it to send the same id twice, or an id of a forbidden type.
   */
  id: z.unknown().optional(),
  /** The name of the answer in `{{name.path}}`. */
  as: z.string().optional(),
  /** False: the turn continues without waiting for the answer. */
  wait: z.boolean().optional(),
  onAnswer: z.array(Branch).optional(),
});

const Spawn = z.strictObject({
  /** The program; by default one that runs much longer than the test. */
  argv: z.array(z.string()).optional(),
  /** Starts the program in a new session (`setsid`), like a daemon. */
  detached: z.boolean().optional(),
  ignoresTerm: z.boolean().optional(),
  /** Keeps the agent's stdout open after the agent has ended. */
  holdsStdout: z.boolean().optional(),
});

const Step = z.union([
  /** A chunk of the agent's message. */
  z.strictObject({ say: z.string() }),
  /** A chunk of the agent's thought. */
  z.strictObject({ think: z.string() }),
  /** A `session/update` with this body; `sessionId` selects another session than the turn's. */
  z.strictObject({ update: loose, sessionId: z.unknown().optional() }),
  /** Sends any JSON as a line. */
  z.strictObject({ message: z.unknown() }),
  /** Sends any text as a line; `end` is the end of the line, by default a line feed. */
  z.strictObject({ raw: z.string(), end: z.string().optional() }),
  /** Sends bytes, given in base64, without a line feed: for invalid UTF-8. */
  z.strictObject({ bytes: z.string() }),
  z.strictObject({ request: Request }),
  /** Waits until the test opens this gate. */
  z.strictObject({ gate: z.string() }),
  z.strictObject({ pauseMs: z.number() }),
  /** Sends this many message chunks, at this many a second, or as fast as the client reads. See flood.ts. */
  z.strictObject({
    flood: z.strictObject({
      count: z.number().int(),
      text: z.string().optional(),
      rate: z.number().optional(),
    }),
  }),
  /** Sends `count` lines of the protocol, most of them broken; the same lines for the same seed. See fuzz.ts. */
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
  /** Answers the prompt with this stop reason; steps may follow. Without this step, the turn ends with `end_turn`. */
  z.strictObject({ stop: loose }),
  /** Answers the request with this result. */
  z.strictObject({ result: z.unknown() }),
  /** Answers the request with the default result; steps may follow. */
  z.strictObject({ answer: z.literal(true) }),
  /** Answers the request with this error. */
  z.strictObject({
    error: z.strictObject({
      code: z.unknown(),
      message: z.unknown(),
      data: z.unknown().optional(),
    }),
  }),
  /** Ends the process; earlier messages still reach the client. */
  z.strictObject({
    exit: z.strictObject({ code: z.number().int().optional(), signal: z.string().optional() }),
  }),
  /** Never answers the request, but continues to read messages, so that a cancelled turn still ends. */
  z.strictObject({ hang: z.literal(true) }),
  /** The process keeps running, but stops reading and writing; the test sees it reach the gate `silence`. */
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
  /** The turn continues as if it was not cancelled. */
  'ignore',
]);

const Turn = z.strictObject({
  /** A part of the prompts that this turn answers; without it, every prompt that no earlier turn answers. */
  when: z.string().optional(),
  steps: z.array(Step),
  /** The effect of `session/cancel` on this turn; by default the effect that the script defines. */
  cancel: CancelReply.optional(),
  /** Played when the turn is cancelled, before its prompt is answered. */
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
  /** Replaces keys of the default result of `initialize`. */
  initialize: loose.optional(),
  /** Additional fields in the results of `session/new`, `load` and `resume`: `modes`, `configOptions`, `_meta`, … */
  session: loose.optional(),
  /** The optional methods that the agent has and declares; default: `load`, `list` and `close`. */
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
  /** `session/list` returns at most this many sessions at a time. */
  listPageSize: z.number().int().optional(),
  /** The behaviour of `session/list` without a folder; default: it returns the sessions of all folders. */
  listWithoutFolder: z.enum(['refuse', 'empty']).optional(),
  /** Earlier sessions, in addition to those that the agent's processes have made. */
  sessions: z.array(StoredSession).optional(),
  /** `session/load` is answered before its replay, whose updates follow with this many ms between them. */
  replaysAfterAnswer: z.number().optional(),
  /** The agent stores a session only at its first prompt, as Codex does. */
  storesAtFirstPrompt: z.boolean().optional(),
  /** Sessions are rejected (-32000) until `authenticate` has been called, by any process. */
  needsAuth: z.boolean().optional(),
  turns: z.array(Turn).optional(),
  cancel: CancelReply.optional(),
  /** The handling of a prompt during the session's running turn; default: `queue`. */
  secondPrompt: z.enum(['queue', 'error', 'never', 'concurrent']).optional(),
  /** Played when a process starts, before it reads anything. */
  onStart: z.array(Step).optional(),
  /** Steps that are played when a method is called. If the steps do not answer the call, the default answer follows. */
  on: z.record(z.string(), z.array(Step)).optional(),
  /** The process keeps running when its stdin ends, as Codex does. */
  outlivesStdin: z.boolean().optional(),
  ignoresTerm: z.boolean().optional(),
});
export type AgentScript = z.infer<typeof AgentScript>;
