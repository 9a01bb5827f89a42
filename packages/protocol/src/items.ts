/** The items of a turn: seed 001's output items, and plan, file changes and approval, which real agents also need. */
import { z } from 'zod';
import {
  ApprovalOption,
  ApprovalOutcome,
  AskedCall,
  ContentBlock,
  FileDiff,
  Form,
  PlanEntry,
  ToolKind,
  ToolLocation,
} from './content.ts';

/** A code for programs, a message for people, and further data from the source of the error. */
export const ErrorObject = z.object({
  code: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  details: z.unknown().optional(),
});
export type ErrorObject = z.infer<typeof ErrorObject>;

const base = {
  id: z.string().min(1),
  correlationId: z.string().optional(),
  /** The call of the subagent to which this item belongs. */
  parentCallId: z.string().optional(),
  /** The times at which the item started and ended (ISO 8601 UTC); set by the response fold from the events. */
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  /**
   * The error in which the item ended; the item keeps the content that had arrived before the error. Set by the
   * response fold.
   */
  error: ErrorObject.optional(),
  /** Data of the source for which this vocabulary has no field. */
  raw: z.unknown().optional(),
};

/**
 * The state of a message that a person sent into a running turn: the agent has the message (`sent`), its model reads it
 * in this turn (`taken`), or the turn ended before its model read it (`not_taken`).
 */
export const Delivery = z.enum(['sent', 'taken', 'not_taken']);
export type Delivery = z.infer<typeof Delivery>;

/** The id of the item of a message that was sent into a running turn. */
export const steeredItemId = (turnId: string, messageId: string): string =>
  `${turnId}:said:${messageId}`;

/**
 * The state of the compaction of the agent's context that the message is about. A compaction that is still
 * `in_progress` when its message ends was aborted.
 */
export const Compaction = z.enum(['in_progress', 'completed', 'failed']);
export type Compaction = z.infer<typeof Compaction>;

export const MessageItem = z.object({
  ...base,
  type: z.literal('message'),
  content: z.string(),
  origin: z.enum(['user', 'agent', 'system']).default('agent'),
  blocks: z.array(ContentBlock).optional(),
  /** Set only for a message that was sent into a running turn. */
  delivery: Delivery.optional(),
  /** Set only for a message of the system. */
  compaction: Compaction.optional(),
});

export const ReasoningItem = z.object({
  ...base,
  type: z.literal('reasoning'),
  content: z.string(),
  origin: z.enum(['agent', 'system']).default('agent'),
});

export const FunctionCallItem = z.object({
  ...base,
  type: z.literal('function_call'),
  name: z.string(),
  /** A JSON text; while it is streamed, the beginning of a JSON text. */
  arguments: z.string(),
  callId: z.string().min(1),
  origin: z.literal('agent').default('agent'),
  title: z.string().optional(),
  kind: ToolKind.optional(),
  locations: z.array(ToolLocation).optional(),
  diffs: z.array(FileDiff).optional(),
});

export const FunctionCallOutputItem = z.object({
  ...base,
  type: z.literal('function_call_output'),
  callId: z.string().min(1),
  output: z.string(),
  success: z.boolean(),
  origin: z.enum(['system', 'tool_harness']).default('system'),
  blocks: z.array(ContentBlock).optional(),
  diffs: z.array(FileDiff).optional(),
  /** The exit code of the program that the tool ran, if any. */
  exitCode: z.number().int().nullish(),
});

export const ScriptExecutionItem = z.object({
  ...base,
  type: z.literal('script_execution'),
  code: z.string(),
  origin: z.literal('agent').default('agent'),
});

export const ScriptExecutionOutputItem = z.object({
  ...base,
  type: z.literal('script_execution_output'),
  scriptId: z.string().min(1),
  /** A JSON string. */
  result: z.string(),
  success: z.boolean(),
  origin: z.enum(['system', 'script_harness']).default('system'),
});

export const ErrorItem = z.object({
  ...base,
  type: z.literal('error'),
  code: z.string(),
  message: z.string(),
  details: z.unknown().optional(),
  origin: z.enum(['agent', 'system', 'provider']).default('system'),
});

export const PlanItem = z.object({
  ...base,
  type: z.literal('plan'),
  entries: z.array(PlanEntry),
});

/** The net changes of files by a turn so far, if the agent reports them. */
export const FileChangesItem = z.object({
  ...base,
  type: z.literal('file_changes'),
  /** One entry for each changed part of a file; empty if no file differs. */
  diffs: z.array(FileDiff),
});

export const ApprovalItem = z.object({
  ...base,
  type: z.literal('approval'),
  approvalId: z.string().min(1),
  title: z.string(),
  /**
   * The name of the MCP server or subagent that asks; absent if the agent itself asks. The name is set by the MCP
   * server or the agent.
   */
  askedBy: z.string().optional(),
  /** A text of the agent: a plan to approve, or the reason for the request. */
  description: z.string().optional(),
  callId: z.string().optional(),
  options: z.array(ApprovalOption),
  /** The form that the person fills in with an answer that allows the call. */
  form: Form.optional(),
  /** Names of the call's arguments that the person may change; an answer has the changed texts in `content`. */
  editable: z.array(z.string()).optional(),
  /** The time at which the default policy answers the request (ISO 8601 UTC). */
  deadline: z.string().optional(),
  /** The call as the permission request describes it; the item of the call `callId` may differ. */
  asked: AskedCall.optional(),
  /** Fields of the call as it was before the agent made this request, where they differ from the request. */
  earlier: AskedCall.partial().optional(),
  /** Absent while the request waits for an answer. */
  outcome: ApprovalOutcome.optional(),
});

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
 * Fields of an item, besides its text, that can change while the item is open: each field of a patch replaces the
 * item's field. A patch can replace a plan's entries, file changes' diffs, and a tool call's title, kind, arguments,
 * locations and diffs.
 */
export const ItemPatch = z.object({
  /** A tool call's new arguments, a JSON string. If the event has `deltaContent`, the delta is appended to them. */
  arguments: z.string().optional(),
  title: z.string().optional(),
  kind: ToolKind.optional(),
  locations: z.array(ToolLocation).optional(),
  diffs: z.array(FileDiff).optional(),
  blocks: z.array(ContentBlock).optional(),
  entries: z.array(PlanEntry).optional(),
  raw: z.unknown().optional(),
});
export type ItemPatch = z.infer<typeof ItemPatch>;
