/**
 * The data that readers show: an item's whole current state, and a turn's events (seed 000, section Data Contracts).
 */
import { z } from 'zod';
import { ApprovalOutcome } from './content.ts';
import { shownShape } from './fields.ts';
import { itemFields } from './items.ts';
import { Usage } from './usage.ts';

const base = {
  turnId: z.string().min(1),
  sessionId: z.string().min(1),
  itemId: z.string().min(1),
  /** The time at which the source produced this state (ISO 8601 UTC). */
  sourceTimestamp: z.string(),
  /** The time at which the fold emitted the upsert (ISO 8601 UTC). */
  emittedAt: z.string(),
  /** `create → update* → complete | error` (invariant 4). */
  status: z.enum(['create', 'update', 'complete', 'error']),
  errorCode: z.string().optional(),
  errorMessage: z.string().optional(),
  /** The time at which the item began (ISO 8601 UTC), so that a reader can show its duration. */
  startedAt: z.string().optional(),
  /** The id of the call that runs the subagent to which this item belongs. */
  parentCallId: z.string().optional(),
};

export const MessageUpsert = z.object({
  ...base,
  type: z.literal('message'),
  ...shownShape(itemFields.message),
  origin: z.enum(['user', 'agent', 'system']),
});
export const ThinkingUpsert = z.object({
  ...base,
  type: z.literal('thinking'),
  ...shownShape(itemFields.reasoning),
  providerId: z.string(),
});
export const ToolCallUpsert = z.object({
  ...base,
  type: z.literal('tool_call'),
  toolName: z.string(),
  /** May be partial or empty in the first upsert (`create`). */
  toolArguments: z.record(z.string(), z.unknown()),
  callId: z.string(),
  toolOutput: z.string().optional(),
  toolOutputIsError: z.boolean().optional(),
  ...shownShape(itemFields.function_call),
  ...shownShape(itemFields.function_call_output),
});
export const PlanUpsert = z.object({
  ...base,
  type: z.literal('plan'),
  ...shownShape(itemFields.plan),
});
/** All net changes of files that the turn has made so far; each upsert repeats all of them. */
export const FileChangesUpsert = z.object({
  ...base,
  type: z.literal('file_changes'),
  ...shownShape(itemFields.file_changes),
});
/** The fields of a tool call that people see when they decide about the call. */
export const ShownCall = z.object({
  toolName: z.string(),
  toolArguments: z.record(z.string(), z.unknown()),
  ...shownShape(itemFields.function_call),
});
export type ShownCall = z.infer<typeof ShownCall>;
/** A permission request; its status is `create` while it waits. */
export const ApprovalUpsert = z.object({
  ...base,
  type: z.literal('approval'),
  approvalId: z.string(),
  ...shownShape(itemFields.approval),
  /** The call as the permission request describes it: see ApprovalItem. */
  asked: ShownCall.optional(),
  /** Those fields of the call, as the call was before the request, that differ from the request: see ApprovalItem. */
  earlier: ShownCall.partial().optional(),
  outcome: ApprovalOutcome.optional(),
});
/** An error that is a separate item, with `errorCode` and `errorMessage`. */
export const ErrorUpsert = z.object({ ...base, type: z.literal('error') });

export const UpsertObject = z.discriminatedUnion('type', [
  MessageUpsert,
  ThinkingUpsert,
  ToolCallUpsert,
  PlanUpsert,
  FileChangesUpsert,
  ApprovalUpsert,
  ErrorUpsert,
]);
export type UpsertObject = z.infer<typeof UpsertObject>;
export type ToolCallUpsert = z.infer<typeof ToolCallUpsert>;
export type ApprovalUpsert = z.infer<typeof ApprovalUpsert>;

export const TurnEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('turn_started'),
    turnId: z.string(),
    sessionId: z.string(),
    modelId: z.string(),
    providerId: z.string(),
    /** Set if the agent started the turn by itself; absent if a person's message started the turn. */
    trigger: z.literal('agent').optional(),
  }),
  z.object({
    type: z.literal('turn_complete'),
    turnId: z.string(),
    sessionId: z.string(),
    status: z.enum(['completed', 'cancelled']),
    /**
     * The reason why the agent stopped. If one of ACP's terms fits, it is that term: `end_turn`, `max_tokens`,
     * `max_turn_requests`, `refusal`.
     */
    finishReason: z.string().optional(),
    usage: Usage.optional(),
    /** Set for a rewind: the id of the first turn that was taken back; all later turns were taken back as well. */
    rewoundTo: z.string().optional(),
  }),
  z.object({
    type: z.literal('turn_error'),
    turnId: z.string(),
    sessionId: z.string(),
    errorCode: z.string(),
    errorMessage: z.string(),
  }),
]);
export type TurnEvent = z.infer<typeof TurnEvent>;

/**
 * The outputs of the upsert fold. `upsert`: an item's new state. `turn`: a turn's event. `discard`: an item that was
 * shown is withdrawn. `append` (only with `appends`): text to add to the content of a message or thought, or to a tool
 * call's output, if the existing text is `at` UTF-16 code units long; `appendText` checks this.
 */
export type FoldOutput =
  | { kind: 'upsert'; upsert: UpsertObject }
  | { kind: 'append'; turnId: string; itemId: string; at: number; text: string }
  | { kind: 'discard'; turnId: string; itemId: string }
  | { kind: 'turn'; event: TurnEvent };
