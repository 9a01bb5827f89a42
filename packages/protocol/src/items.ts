/**
 * The items of a turn: seed 001's output items, and three more types that real agents need: plan, file changes and
 * approval.
 */
import { z } from 'zod';
import {
  ApprovalOption,
  ApprovalOutcome,
  ContentBlock,
  FileDiff,
  Form,
  PlanEntry,
  ToolKind,
  ToolLocation,
} from './content.ts';
import {
  field,
  type Fields,
  itemShape,
  type KeyWith,
  optionalShape,
  type Roles,
  type Shown,
  shownNames,
  shownShape,
} from './fields.ts';

/** A code for programs, a message for people, and further data from the source of the error. */
export const ErrorObject = z.object({
  code: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  details: z.unknown().optional(),
});
export type ErrorObject = z.infer<typeof ErrorObject>;

export const ItemType = z.enum([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'script_execution',
  'script_execution_output',
  'error',
  'plan',
  'file_changes',
  'approval',
]);
export type ItemType = z.infer<typeof ItemType>;

/**
 * The state of a message that a person sent into a running turn: the agent has the message (`sent`), its model reads it
 * in this turn (`taken`), or the turn ended before its model read it (`not_taken`).
 */
export const Delivery = z.enum(['sent', 'taken', 'not_taken']);
export type Delivery = z.infer<typeof Delivery>;

/** The id of the item for a message that was sent into a running turn. */
export const steeredItemId = (turnId: string, messageId: string): string =>
  `${turnId}:said:${messageId}`;

/**
 * The state of the compaction of the agent's context that the message is about. A compaction that is still
 * `in_progress` when its message ends was aborted.
 */
export const Compaction = z.enum(['in_progress', 'completed', 'failed']);
export type Compaction = z.infer<typeof Compaction>;

/** The field can be in the event that starts the item, in a patch, and in upserts. */
const changing = { start: true, patch: true, shown: true } as const;
/** The field can be in the event that starts the item, and in upserts; no patch replaces the field. */
const fixed = { start: true, shown: true } as const;

export const baseFields = {
  id: field(z.string().min(1)),
  correlationId: field(z.string().optional(), { start: true }),
  /** The id of the call that runs the subagent to which this item belongs. */
  parentCallId: field(z.string().optional(), { start: true }),
  /** The times at which the item started and ended (ISO 8601 UTC); set by the response fold from the events. */
  startedAt: field(z.string().optional()),
  endedAt: field(z.string().optional()),
  /**
   * The error in which the item ended; the item keeps the content that had arrived before the error. Set by the
   * response fold.
   */
  error: field(ErrorObject.optional()),
  /** Data from the item's source for which this vocabulary has no field. */
  raw: field(z.unknown().optional(), { patch: true }),
};

const message = {
  content: field(z.string(), { text: true, shown: true }),
  origin: field(z.enum(['user', 'agent', 'system']).default('agent'), { shown: true }),
  blocks: field(z.array(ContentBlock).optional(), { patch: true, shown: true }),
  /** Set only for a message that a person sent into a running turn. */
  delivery: field(Delivery.optional(), { start: true, shown: true }),
  /** Set only for a message of the system. */
  compaction: field(Compaction.optional(), { start: true }),
};

const reasoning = {
  content: field(z.string(), { text: true, shown: true }),
  origin: field(z.enum(['agent', 'system']).default('agent')),
};

const functionCall = {
  name: field(z.string(), { start: true }),
  /** A JSON text; while it is streamed, the beginning of a JSON text. */
  arguments: field(z.string(), { text: true, start: true, patch: true }),
  callId: field(z.string().min(1)),
  origin: field(z.literal('agent').default('agent')),
  // Each field below that is shown is also a field of a permission request for the call: see AskedCall.
  title: field(z.string().optional(), changing),
  kind: field(ToolKind.optional(), changing),
  locations: field(z.array(ToolLocation).optional(), changing),
  diffs: field(z.array(FileDiff).optional(), { patch: true, shown: true }),
};

const functionCallOutput = {
  callId: field(z.string().min(1)),
  output: field(z.string(), { text: true }),
  success: field(z.boolean()),
  origin: field(z.enum(['system', 'tool_harness']).default('system')),
  blocks: field(z.array(ContentBlock).optional(), { patch: true, shown: 'outputBlocks' }),
  diffs: field(z.array(FileDiff).optional(), { patch: true, shown: true }),
  /** The exit code of the program that the tool ran, if any. */
  exitCode: field(z.number().int().nullish(), { shown: true }),
  /** How long the tool ran, as the agent reports it, in ms. */
  durationMs: field(z.number().optional(), { shown: true }),
};

const scriptExecution = {
  code: field(z.string(), { text: true, start: true }),
  origin: field(z.literal('agent').default('agent')),
};

const scriptExecutionOutput = {
  scriptId: field(z.string().min(1)),
  /** A JSON string. */
  result: field(z.string(), { text: true }),
  success: field(z.boolean()),
  origin: field(z.enum(['system', 'script_harness']).default('system')),
};

const error = {
  code: field(z.string()),
  message: field(z.string(), { text: true }),
  details: field(z.unknown().optional()),
  origin: field(z.enum(['agent', 'system', 'provider']).default('system')),
};

const plan = { entries: field(z.array(PlanEntry), changing) };

/** The net changes of files by a turn so far, if the agent reports them. */
const fileChanges = {
  /** One entry for each changed part of a file; empty if no file has changed. */
  diffs: field(z.array(FileDiff), changing),
};

/** The tool call that a permission request describes. The call runs if the person allows it. */
export const AskedCall = z.object({
  name: z.string(),
  /** A JSON string. */
  arguments: z.string(),
  ...shownShape(functionCall),
});
export type AskedCall = z.infer<typeof AskedCall>;

const approval = {
  approvalId: field(z.string().min(1)),
  title: field(z.string(), fixed),
  /**
   * The name of the MCP server or subagent that asks; absent if the agent itself asks. The name is set by the MCP
   * server or the agent.
   */
  askedBy: field(z.string().optional(), fixed),
  /** A text of the agent: a plan to approve, or the reason for the request. */
  description: field(z.string().optional(), fixed),
  callId: field(z.string().optional(), fixed),
  options: field(z.array(ApprovalOption), fixed),
  /** The form that the person fills in with an answer that allows the call. */
  form: field(Form.optional(), fixed),
  /** Names of the call's arguments that the person may change; an answer has the changed texts in `content`. */
  editable: field(z.array(z.string()).optional(), fixed),
  /** The time at which the default policy answers the request (ISO 8601 UTC). */
  deadline: field(z.string().optional(), fixed),
  /**
   * The call as the permission request describes it. The item of the call (`callId`) may differ from this description.
   */
  asked: field(AskedCall.optional(), { start: true }),
  /** Those fields of the call, as the call was before the agent made this request, that differ from the request. */
  earlier: field(AskedCall.partial().optional(), { start: true }),
  /** Absent while the request waits for an answer. */
  outcome: field(ApprovalOutcome.optional()),
};

/** The fields of each item type. */
export const itemFields = {
  message,
  reasoning,
  function_call: functionCall,
  function_call_output: functionCallOutput,
  script_execution: scriptExecution,
  script_execution_output: scriptExecutionOutput,
  error,
  plan,
  file_changes: fileChanges,
  approval,
} satisfies Record<ItemType, Fields>;
type ItemFields = typeof itemFields;

const schemaOf = <T extends ItemType>(type: T) =>
  z.object({
    ...itemShape(baseFields),
    type: z.literal(type),
    ...itemShape<ItemFields[T]>(itemFields[type]),
  });

export const MessageItem = schemaOf('message');
export const ReasoningItem = schemaOf('reasoning');
export const FunctionCallItem = schemaOf('function_call');
export const FunctionCallOutputItem = schemaOf('function_call_output');
export const ScriptExecutionItem = schemaOf('script_execution');
export const ScriptExecutionOutputItem = schemaOf('script_execution_output');
export const ErrorItem = schemaOf('error');
export const PlanItem = schemaOf('plan');
export const FileChangesItem = schemaOf('file_changes');
export const ApprovalItem = schemaOf('approval');

export const OutputItem = z.discriminatedUnion('type', [
  MessageItem,
  ReasoningItem,
  FunctionCallItem,
  FunctionCallOutputItem,
  ScriptExecutionItem,
  ScriptExecutionOutputItem,
  ErrorItem,
  PlanItem,
  FileChangesItem,
  ApprovalItem,
]);
export type OutputItem = z.infer<typeof OutputItem>;

/**
 * Fields of an item, besides its text, that can change while the item is open: each field of a patch replaces the
 * item's field. A patch can replace a tool call's arguments too: if the event has `deltaContent`, the delta is appended
 * to them.
 */
export const ItemPatch = z.object({
  ...optionalShape(functionCall, 'patch'),
  ...optionalShape(functionCallOutput, 'patch'),
  ...optionalShape(message, 'patch'),
  ...optionalShape(plan, 'patch'),
  ...optionalShape(fileChanges, 'patch'),
  ...optionalShape(baseFields, 'patch'),
});
export type ItemPatch = z.infer<typeof ItemPatch>;

type Keyed = 'start' | 'patch' | 'text';
type KeyIn<R extends Keyed> =
  | { [T in ItemType]: KeyWith<ItemFields[T], R> }[ItemType]
  | KeyWith<typeof baseFields, R>;

/** Returns a table by item type; each entry is the value that `of` returns for the fields of the type. */
const byType = <V>(of: (fields: Fields) => V) =>
  Object.fromEntries(
    Object.entries(itemFields).map(([type, own]) => [type, of({ ...baseFields, ...own })]),
  ) as Record<ItemType, V>;

// The filter chooses the keys that the type describes.
const keysWith = <R extends Keyed>(role: R, isChosen = (roles: Roles) => roles[role] === true) =>
  byType(
    (fields) =>
      Object.entries(fields).flatMap(([key, one]) => (isChosen(one) ? [key] : [])) as KeyIn<R>[],
  );

/** For each item type, the keys of the fields that a start can have. */
export const startKeys = keysWith('start');
/** For each item type, the keys of the fields that a patch can replace, without the text. */
export const patchKeys = keysWith('patch', ({ patch, text }) => patch === true && text !== true);
/** For each item type, the key of its text, or nothing. */
export const textKeys = keysWith('text');
const namesShown = byType(shownNames);

/** The fields, besides name and arguments, that a permission request repeats from its call. */
export const askedKeys = namesShown.function_call.map(([key]) => key) as (keyof Shown<
  typeof functionCall
>)[];

/**
 * Returns the fields of an item that its upsert contains, by their names in the upsert; undefined fields are left out.
 */
export function shownFields<T extends ItemType>(item: Extract<OutputItem, { type: T }>) {
  const shown = {};
  for (const [key, name] of namesShown[item.type]) {
    const value: unknown = Reflect.get(item, key);
    if (value !== undefined) Reflect.set(shown, name, value);
  }
  return shown as Shown<ItemFields[T]>;
}
