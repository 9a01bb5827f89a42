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
   * A text. The branch is played if the JSON of the answer contains the text, and no earlier branch is played. A branch
   * without `when` matches every answer.
   */
  when: z.string().optional(),
  get steps(): z.ZodArray<typeof Step> {
    return z.array(Step);
  },
});

const Request = z.strictObject({
  /**
   * The method, for example `session/request_permission`, `fs/read_text_file`, `terminal/create` or
   * `elicitation/create`.
   */
  method: z.string(),
  /** The parameters. If `sessionId` is missing, it is added. */
  params: loose.optional(),
  /**
   * The request's id; by default, ids count from 1000. With this field, a script can send the same id twice, or an id
   * of a type that is not allowed.
   */
  id: z.unknown().optional(),
  /** The name of the answer, for placeholders such as `{{name.path}}`. */
  as: z.string().optional(),
  /** If false, the turn continues without waiting for the answer. */
  wait: z.boolean().optional(),
  onAnswer: z.array(Branch).optional(),
});

const Spawn = z.strictObject({
  /** The program and its arguments; by default a program that runs much longer than the test. */
  argv: z.array(z.string()).optional(),
  /** If true, the program starts in a new session (`setsid`), as a daemon does. */
  detached: z.boolean().optional(),
  ignoresTerm: z.boolean().optional(),
  /** If true, the program keeps the agent's stdout open after the agent has ended. */
  holdsStdout: z.boolean().optional(),
});

const Step = z.union([
  /** Sends a chunk of the agent's message. */
  z.strictObject({ say: z.string() }),
  /** Sends a chunk of the agent's thought. */
  z.strictObject({ think: z.string() }),
  /** Sends a `session/update` with this body. `sessionId` selects another session than the turn's session. */
  z.strictObject({ update: loose, sessionId: z.unknown().optional() }),
  /** Sends any JSON value as a line. */
  z.strictObject({ message: z.unknown() }),
  /** Sends any text as a line. `end` is the end of the line, by default a line feed. */
  z.strictObject({ raw: z.string(), end: z.string().optional() }),
  /** Sends bytes, which are given in base64, without a line feed. Scripts use this step for invalid UTF-8. */
  z.strictObject({ bytes: z.string() }),
  z.strictObject({ request: Request }),
  /** Waits until the test opens this gate. */
  z.strictObject({ gate: z.string() }),
  z.strictObject({ pauseMs: z.number() }),
  /**
   * Sends this number of message chunks: at the given rate per second, or as fast as the client reads. See flood.ts.
   */
  z.strictObject({
    flood: z.strictObject({
      count: z.number().int(),
      text: z.string().optional(),
      rate: z.number().optional(),
    }),
  }),
  /** Sends `count` lines of the protocol, most of them broken. The same seed gives the same lines. See fuzz.ts. */
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
  /**
   * Replies to the prompt with this stop reason. Further steps may follow. Without this step, the turn ends with
   * `end_turn`.
   */
  z.strictObject({ stop: loose }),
  /** Replies to the request with this result. */
  z.strictObject({ result: z.unknown() }),
  /** Replies to the request with the default result. Further steps may follow. */
  z.strictObject({ answer: z.literal(true) }),
  /** Replies to the request with this error. */
  z.strictObject({
    error: z.strictObject({
      code: z.unknown(),
      message: z.unknown(),
      data: z.unknown().optional(),
    }),
  }),
  /** Ends the process. Messages that were sent before still reach the client. */
  z.strictObject({
    exit: z.strictObject({ code: z.number().int().optional(), signal: z.string().optional() }),
  }),
  /** Never replies to the request, but continues to read messages, so that a cancelled turn still ends. */
  z.strictObject({ hang: z.literal(true) }),
  /**
   * Stops reading and writing, while the process keeps running. The test sees that the process reaches the gate
   * `silence`.
   */
  z.strictObject({ silence: z.literal(true) }),
  z.strictObject({ spawn: Spawn }),
  z.strictObject({ stderr: z.string() }),
]);
export type Step = z.infer<typeof Step>;

const CancelReply = z.enum([
  /** The turn stops, and the reply to its prompt is `cancelled`. */
  'cancelled',
  /** The turn stops, and the reply to its prompt is `end_turn`. */
  'end_turn',
  /** The turn stops, and the reply to its prompt is an error. */
  'error',
  /** The turn stops, and its prompt gets no reply. */
  'never',
  /** The turn continues as if it had not been cancelled. */
  'ignore',
]);

const Turn = z.strictObject({
  /**
   * A text that a prompt must contain to start this turn. Without `when`, the turn is for every prompt that starts no
   * earlier turn.
   */
  when: z.string().optional(),
  steps: z.array(Step),
  /** The effect of `session/cancel` on this turn; by default the effect that the whole script contains. */
  cancel: CancelReply.optional(),
  /** Steps that are played when the turn is cancelled, before the reply to its prompt. */
  onCancel: z.array(Step).optional(),
});
export type Turn = z.infer<typeof Turn>;

const StoredSession = z.strictObject({
  sessionId: z.string(),
  cwd: z.string(),
  title: z.string().optional(),
  updatedAt: z.string().optional(),
  /** The bodies of `session/update` that loading the session replays. */
  updates: z.array(loose).optional(),
});
export type StoredSession = z.infer<typeof StoredSession>;

export const AgentScript = z.strictObject({
  /** Values that replace keys of the default result of `initialize`. */
  initialize: loose.optional(),
  /** Further fields in the results of `session/new`, `load` and `resume`: `modes`, `configOptions`, `_meta`, … */
  session: loose.optional(),
  /** The optional methods that the agent implements and declares; default: `load`, `list` and `close`. */
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
  /** The most sessions that `session/list` returns at a time. */
  listPageSize: z.number().int().optional(),
  /** What `session/list` does if the client passes no folder. By default, it returns the sessions of all folders. */
  listWithoutFolder: z.enum(['refuse', 'empty']).optional(),
  /** Sessions that existed before, in addition to the sessions that the agent's processes have made. */
  sessions: z.array(StoredSession).optional(),
  /**
   * If set, the agent replies to `session/load` before the replay. The updates of the replay follow, this many ms
   * apart.
   */
  replaysAfterAnswer: z.number().optional(),
  /** If true, the agent stores a session only at the session's first prompt, as Codex does. */
  storesAtFirstPrompt: z.boolean().optional(),
  /** If true, sessions are rejected (-32000) until any process has received `authenticate`. */
  needsAuth: z.boolean().optional(),
  turns: z.array(Turn).optional(),
  cancel: CancelReply.optional(),
  /** How the agent handles a prompt while a turn of the session is running; default: `queue`. */
  secondPrompt: z.enum(['queue', 'error', 'never', 'concurrent']).optional(),
  /** Steps that are played when a process starts, before the process reads its input. */
  onStart: z.array(Step).optional(),
  /**
   * Steps that are played when a method is called. If the steps do not reply to the call, the default reply follows.
   */
  on: z.record(z.string(), z.array(Step)).optional(),
  /** If true, the process keeps running when its stdin ends, as Codex does. */
  outlivesStdin: z.boolean().optional(),
  ignoresTerm: z.boolean().optional(),
});
export type AgentScript = z.infer<typeof AgentScript>;
