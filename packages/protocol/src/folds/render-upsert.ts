/** The upsert of a view (seed 000, Upsert Object). Live and stored turns have equal upserts. */
import { cutDepth } from '../depth.ts';
import { type AskedCall, type OutputItem, shownFields } from '../items.ts';
import { hasMoreValues } from '../json-marks.ts';
import type { ShownCall, UpsertObject } from '../upserts.ts';
import { hasContent, itemText } from './item-text.ts';
import type { AnswerItem } from './pair-answers.ts';
import { withoutUndefined } from './start-item.ts';
import type { Progress, View } from './views.ts';

export interface RenderContext {
  turnId: string;
  sessionId: string;
  providerId: string;
}

export interface Emission {
  status: UpsertObject['status'];
  /** ISO 8601 UTC. */
  sourceTimestamp: string;
  /** ISO 8601 UTC. */
  emittedAt: string;
}

/** Renders a view. The caller chooses `emission.status`, because a view does not record whether it has been emitted. */
export function renderUpsert(
  view: View,
  progress: Progress,
  context: RenderContext,
  emission: Emission,
): UpsertObject {
  const { item } = view;
  const { turnId, sessionId } = context;
  const error = progress.status === 'error' ? progress.error : undefined;
  const base = {
    turnId,
    sessionId,
    itemId: item.id,
    ...emission,
    errorCode: error?.code,
    errorMessage: error?.message,
    startedAt: item.startedAt,
    parentCallId: item.parentCallId,
  };
  return withoutUndefined({ ...base, ...contentOf(view, progress, context.providerId) });
}

type UpsertContent<T = UpsertObject> = T extends UpsertObject
  ? Omit<T, 'turnId' | 'sessionId' | 'itemId' | keyof Emission>
  : never;

function contentOf({ item, answer }: View, progress: Progress, providerId: string): UpsertContent {
  switch (item.type) {
    case 'message':
      return { type: 'message', ...shownFields(item) };
    case 'reasoning':
      return { type: 'thinking', ...shownFields(item), providerId };
    case 'function_call':
    case 'script_execution':
      return { ...callContent(item, progress), ...answerContent(answer) };
    case 'function_call_output':
    case 'script_execution_output':
      return { ...unknownCall(item), ...answerContent(item) };
    case 'plan':
      return { type: 'plan', ...shownFields(item) };
    case 'file_changes':
      return { type: 'file_changes', ...shownFields(item) };
    case 'approval':
      return approvalContent(item, progress);
    case 'error':
      return { type: 'error' };
  }
}

type ItemOf<T extends OutputItem['type']> = Extract<OutputItem, { type: T }>;
type ToolCallContent = Extract<UpsertContent, { type: 'tool_call' }>;

function callContent(
  item: ItemOf<'function_call' | 'script_execution'>,
  progress: Progress,
): ToolCallContent {
  if (item.type === 'script_execution') {
    const toolArguments = { code: item.code };
    return { type: 'tool_call', toolName: 'script', toolArguments, callId: item.id };
  }
  const isComplete = item.endedAt !== undefined || progress.status !== 'open';
  return {
    type: 'tool_call',
    toolName: item.name,
    toolArguments: toolArgumentsOf(item, isComplete),
    callId: item.callId,
    ...shownFields(item),
  };
}

/** Returns the fields of an answer; no fields for an answer that has begun but has no content. */
function answerContent(answer: AnswerItem | undefined): Partial<ToolCallContent> {
  if (!answer || (answer.endedAt === undefined && !hasContent(answer))) return {};
  const ended = answer.endedAt !== undefined && { toolOutputIsError: !answer.success };
  return { toolOutput: itemText(answer), ...ended, ...shownFields(answer) };
}

/** The content of an answer to an unknown call (TC-3.3g). */
function unknownCall(answer: AnswerItem): ToolCallContent {
  const callId = answer.type === 'function_call_output' ? answer.callId : answer.scriptId;
  return { type: 'tool_call', toolName: 'unknown', toolArguments: {}, callId };
}

function approvalContent(item: ItemOf<'approval'>, progress: Progress): UpsertContent {
  const { approvalId } = item;
  const ended = progress.status === 'open' ? undefined : ({ outcome: 'cancelled' } as const);
  const outcome = item.outcome ?? ended;
  const asked = item.asked && withoutUndefined(shownCall(item.asked));
  const earlier = item.earlier && withoutUndefined(shownCall(item.earlier));
  return { type: 'approval', approvalId, ...shownFields(item), asked, earlier, outcome };
}

function shownCall(call: AskedCall): ShownCall;
function shownCall(call: Partial<AskedCall>): Partial<ShownCall>;
function shownCall({ name, arguments: json, ...rest }: Partial<AskedCall>): Partial<ShownCall> {
  const toolArguments = json === undefined ? undefined : parseArguments(json);
  return { toolName: name, toolArguments, ...rest };
}

/**
 * Arguments with at least this number of characters are parsed once and cached, because the folds for several kinds of
 * readers need the parsed arguments.
 */
const longArguments = 10_000;
const parsedArguments = new WeakMap<object, Record<string, unknown>>();

function toolArgumentsOf(
  item: ItemOf<'function_call'>,
  isComplete: boolean,
): Record<string, unknown> {
  const found = parsedArguments.get(item) ?? parseArguments(item.arguments, isComplete);
  if (isComplete && item.arguments.length > longArguments) parsedArguments.set(item, found);
  return found;
}

/** The most values in parsed arguments: the server and the readers of its stream would need too long to parse more. */
const maxValues = 50_000;

/**
 * Returns parsed arguments. Complete arguments that are not a JSON object, or are too large, are returned as text in
 * `raw`.
 */
export function parseArguments(text: string, isComplete = true): Record<string, unknown> {
  if (text.trim() === '') return {};
  const isLarge = text.length > maxValues && hasMoreValues(text, maxValues);
  const parsed = isLarge ? undefined : parseJson(text);
  if (isRecord(parsed)) return parsed;
  return isComplete ? { raw: text } : {};
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(cutDepth(text));
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
