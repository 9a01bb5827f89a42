/**
 * Schemas of the parts of `codex app-server`'s notifications that Liminal reads, after the types that `codex app-server
 * generate-ts` writes (0.171). All fields except an item's type are optional, because a newer Codex may omit or add
 * fields.
 */
import { z } from 'zod';

const text = z.string().catch('');
const texts = z.array(z.string()).catch([]);
const number = z.number().nullish().catch(undefined);
const nullable = z.string().nullish().catch(undefined);

export const CommandAction = z.looseObject({
  type: text,
  command: text,
  name: nullable,
  path: nullable,
  query: nullable,
});
export type CommandAction = z.infer<typeof CommandAction>;

/** `diff` is a unified diff for an update, and the file's whole text otherwise. */
export const FileChange = z.looseObject({
  path: z.string(),
  kind: z.looseObject({ type: text, move_path: nullable }).catch({ type: '' }),
  diff: text,
});
export type FileChange = z.infer<typeof FileChange>;

/** The action of a web search: `search`, `openPage` or `findInPage`. */
const WebSearchAction = z.looseObject({
  type: text,
  query: nullable,
  queries: z.array(z.string()).nullish().catch(undefined),
  url: nullable,
  pattern: nullable,
});

/** A part of a person's message. */
const UserInput = z.looseObject({ type: text, text });

/** A question to people in an agent's message. */
const MessageQuestion = z.looseObject({
  title: text,
  options: z.array(z.string()).nullish().catch(undefined),
});
export type MessageQuestion = z.infer<typeof MessageQuestion>;

/** The lines of Codex' memory files that an answer cites. */
const MemoryCitation = z.looseObject({
  entries: z
    .array(z.looseObject({ path: text, lineStart: number, lineEnd: number, note: text }))
    .catch([]),
});
export type MemoryCitation = z.infer<typeof MemoryCitation>;

const item = { id: z.string().min(1) };

const items = [
  z.looseObject({
    ...item,
    type: z.literal('userMessage'),
    content: z.array(UserInput).catch([]),
    /** The id with which Liminal sent the message, if any. */
    clientId: nullable,
  }),
  // Do not read `moderation`. ChatGPT's own clients hide or replace some answers because of this field, but Codex'
  // terminal shows every answer.
  z.looseObject({
    ...item,
    type: z.literal('agentMessage'),
    text,
    /** Questions that the user may answer in the next message. The agent does not wait for answers. */
    questions: z.array(MessageQuestion).nullish().catch(undefined),
    memoryCitation: MemoryCitation.nullish().catch(undefined),
  }),
  z.looseObject({ ...item, type: z.literal('plan'), text }),
  z.looseObject({ ...item, type: z.literal('reasoning'), summary: texts, content: texts }),
  z.looseObject({
    ...item,
    type: z.literal('commandExecution'),
    command: text,
    cwd: text,
    processId: nullable,
    status: text,
    commandActions: z.array(CommandAction).catch([]),
    aggregatedOutput: nullable,
    exitCode: number,
    durationMs: number,
    /** The command's origin: `userShell` is a person's own command. */
    source: nullable,
    startedAtMs: number,
  }),
  z.looseObject({
    ...item,
    type: z.literal('fileChange'),
    status: text,
    changes: z.array(FileChange).catch([]),
  }),
  z.looseObject({
    ...item,
    type: z.literal('mcpToolCall'),
    server: text,
    tool: text,
    status: text,
    arguments: z.unknown().optional(),
    result: z
      .looseObject({
        content: z.array(z.unknown()).catch([]),
        structuredContent: z.unknown().optional(),
      })
      .nullish()
      .catch(undefined),
    error: z.looseObject({ message: text }).nullish().catch(undefined),
    durationMs: number,
  }),
  z.looseObject({
    ...item,
    type: z.literal('webSearch'),
    query: text,
    action: WebSearchAction.nullish().catch(undefined),
    /** The search provider's results, unchanged. */
    results: z.array(z.unknown()).nullish().catch(undefined),
  }),
  // Codex does not send `result`: Liminal adds `result`, with the picture in base64.
  z.looseObject({ ...item, type: z.literal('imageView'), path: text, result: nullable }),
  z.looseObject({
    ...item,
    type: z.literal('dynamicToolCall'),
    namespace: nullable,
    tool: text,
    status: text,
    arguments: z.unknown().optional(),
    contentItems: z.array(z.unknown()).nullish().catch(undefined),
    success: z.boolean().nullish().catch(undefined),
  }),
  z.looseObject({
    ...item,
    type: z.literal('collabAgentToolCall'),
    tool: text,
    status: text,
    prompt: nullable,
    receiverThreadIds: texts,
    agentsStates: z.record(z.string(), z.looseObject({ message: nullable })).catch({}),
  }),
  z.looseObject({
    ...item,
    type: z.literal('imageGeneration'),
    status: text,
    revisedPrompt: nullable,
    savedPath: nullable,
    /** The image, in base64. */
    result: nullable,
    failure: z.unknown().optional(),
  }),
  z.looseObject({ ...item, type: z.literal('sleep'), durationMs: number }),
  z.looseObject({
    ...item,
    type: z.literal('functionCallOutput'),
    name: text,
    output: z.unknown().optional(),
  }),
  z.looseObject({
    ...item,
    type: z.literal('hookPrompt'),
    fragments: z.array(z.looseObject({ text })).catch([]),
  }),
  z.looseObject({ ...item, type: z.literal('contextCompaction') }),
  z.looseObject({ ...item, type: z.literal('enteredReviewMode'), review: text }),
  z.looseObject({ ...item, type: z.literal('exitedReviewMode'), review: text }),
] as const;

/** The translated items; other items are kept unchanged. */
export const ThreadItem = z.discriminatedUnion('type', items);
export type ThreadItem = z.infer<typeof ThreadItem>;
export type ItemOf<T extends ThreadItem['type']> = Extract<ThreadItem, { type: T }>;

/** The call that begins a task. The task gets its own thread. */
export const SpawnCall = z.looseObject({
  ...item,
  tool: z.literal('spawnAgent'),
  receiverThreadIds: texts,
  prompt: nullable,
});

export const TurnError = z.looseObject({
  message: text,
  /** A name, or an object whose one key is the name. */
  codexErrorInfo: z.unknown().optional(),
  additionalDetails: nullable,
});
export type TurnError = z.infer<typeof TurnError>;

export const CompletedTurn = z.looseObject({
  id: z.string(),
  status: z.enum(['completed', 'interrupted', 'failed', 'inProgress']).catch('completed'),
  error: TurnError.nullish().catch(undefined),
});

const count = z.number().nonnegative().catch(0);

export const TokenUsage = z.looseObject({
  last: z.looseObject({
    totalTokens: count,
    inputTokens: count,
    cachedInputTokens: count,
    outputTokens: count,
  }),
  modelContextWindow: number,
});

export const PlanStep = z.looseObject({
  step: text,
  status: z.enum(['pending', 'inProgress', 'completed']).catch('pending'),
});
