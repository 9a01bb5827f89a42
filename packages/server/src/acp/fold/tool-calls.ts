/** Converts a tool call or script, and its output, to ACP's `tool_call` and `tool_call_update`. */
import type * as Acp from '@agentclientprotocol/sdk';
import type { AskedCall, ErrorObject, OutputItem } from '@liminal/protocol';
import { toolContent } from './content.ts';
import { diagnosis, metaOf } from './meta.ts';

type Of<Type extends OutputItem['type']> = Extract<OutputItem, { type: Type }>;
export type CallItem = Of<'function_call'> | Of<'script_execution'>;
export type ApprovalItem = Of<'approval'>;
export type OutputOf = Of<'function_call_output'> | Of<'script_execution_output'>;

export type ToolCall = Extract<Acp.SessionUpdate, { sessionUpdate: 'tool_call' }>;
export type ToolCallUpdate = Extract<Acp.SessionUpdate, { sessionUpdate: 'tool_call_update' }>;

/** How a client shows a call. The id of the call's terminal is the call's id. */
export interface CallDisplay {
  isTerminal: boolean;
}

/**
 * Returns the first update of a call. `isInputComplete`: the call's arguments are complete, and the call is running.
 */
export function announcedCall(
  item: CallItem,
  {
    isInputComplete,
    isTerminal,
    parent,
  }: CallDisplay & { isInputComplete: boolean; parent: string | undefined },
): ToolCall {
  const { title, content = [], ...fields } = callFields(item, isInputComplete);
  const all = [...terminalOf(item, isTerminal), ...content];
  return {
    sessionUpdate: 'tool_call',
    toolCallId: item.id,
    title: title ?? 'Tool',
    kind: 'other',
    ...fields,
    ...(all.length > 0 && { content: all }),
    status: isInputComplete ? 'in_progress' : 'pending',
    ...metaOf({ parent }, isTerminal ? { terminal_info: { terminal_id: item.id } } : {}),
  };
}

/**
 * Returns the update for a changed call; undefined if no field that clients show has changed. `begins`: the call begins
 * to run.
 */
export function changedCall(
  before: CallItem,
  after: CallItem,
  { sendsInput, begins, isTerminal }: CallDisplay & { sendsInput: boolean; begins: boolean },
): ToolCallUpdate | undefined {
  const [known, fields] = [callFields(before, false), callFields(after, sendsInput)];
  const changes = Object.entries(fields).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(known[key as keyof CallFields]),
  );
  if (changes.length === 0 && !begins) return undefined;
  const { content, ...otherChanges }: CallFields = Object.fromEntries(changes);
  return {
    ...updateOf(after.id),
    ...otherChanges,
    ...(content && { content: [...terminalOf(after, isTerminal), ...content] }),
    ...(begins && { status: 'in_progress' }),
  };
}

/** Returns the update with a call's output so far. `printed` is the new text for the call's terminal. */
export function outputUpdate(
  call: CallItem,
  output: OutputOf,
  { isTerminal, printed, begins }: CallDisplay & { printed: string; begins: boolean },
): ToolCallUpdate {
  const { text, blocks, diffs } = outputParts(call, output);
  const update = { ...updateOf(call.id), ...(begins && { status: 'in_progress' as const }) };
  if (!isTerminal) return { ...update, content: toolContent(text, blocks, diffs) };
  const content = [...terminalOf(call, true), ...toolContent('', blocks, diffs)];
  const isAlone = content.length === 1;
  return {
    ...update,
    ...(!isAlone && { content }),
    ...metaOf({}, { terminal_output: { terminal_id: call.id, data: printed } }),
  };
}

/** Returns the last update of a call. */
export function endedCall(
  call: CallItem,
  output: OutputOf,
  { isTerminal, printed }: CallDisplay & { printed: string },
): ToolCallUpdate {
  const { text, blocks, diffs } = outputParts(call, output);
  const { success, error } = output;
  const resultText = text === '' ? (error?.message ?? '') : text;
  const shownText = isTerminal && text !== '' ? '' : resultText;
  return {
    ...updateOf(call.id),
    status: success && error === undefined ? 'completed' : 'failed',
    content: [...terminalOf(call, isTerminal), ...toolContent(shownText, blocks, diffs)],
    rawOutput: rawOutput(output),
    ...(isTerminal && metaOf({}, exitOf(call, printed, exitCodeOf(output)))),
  };
}

/** Returns the last update of a call that ended without an output, or that was cut off. */
export function cutOffCall(
  call: CallItem,
  error: ErrorObject | undefined,
  { isTerminal }: CallDisplay,
): ToolCallUpdate {
  const exit = isTerminal ? metaOf({}, exitOf(call, '', null)) : {};
  if (error === undefined) return { ...updateOf(call.id), status: 'completed', ...exit };
  const diffs = 'diffs' in call ? (call.diffs ?? []) : [];
  return {
    ...updateOf(call.id),
    status: 'failed',
    content: [...terminalOf(call, isTerminal), ...toolContent(error.message, [], diffs)],
    rawOutput: { error: diagnosis(error) },
    ...exit,
  };
}

/** Returns the update that removes the call's output so far from the client. */
export function clearedCall(call: CallItem): ToolCallUpdate {
  return {
    ...updateOf(call.id),
    content: toolContent('', [], 'diffs' in call ? (call.diffs ?? []) : []),
  };
}

/**
 * Returns the call as its question shows it: the content begins with the description, and with earlier values of the
 * call's fields.
 */
export function callWithQuestion(
  call: CallItem,
  item: ApprovalItem,
  { isTerminal }: CallDisplay,
): Acp.ToolCallUpdate {
  const { content = [], ...fields } = callFields(requestedCall(call, item), true);
  const all = [...questionContent(item), ...terminalOf(call, isTerminal), ...content];
  const { title } = item;
  return { toolCallId: call.id, ...fields, title, ...(all.length > 0 && { content: all }) };
}

/** Returns the fields of the call that a question is about, for a client to which the call was never sent. */
export function questionFields(item: ApprovalItem): Omit<CallFields, 'title'> {
  const { asked } = item;
  const {
    title: _,
    content = [],
    ...fields
  } = asked ? callFields(asCallItem(item.id, asked), true) : {};
  const all = [...questionContent(item), ...content];
  return { ...fields, ...(all.length > 0 && { content: all }) };
}

function requestedCall(call: CallItem, { asked }: ApprovalItem): CallItem {
  return asked === undefined || call.type === 'script_execution'
    ? call
    : { ...call, ...asCallItem(call.id, asked) };
}

const asCallItem = (id: string, asked: AskedCall): CallItem => ({
  type: 'function_call',
  id,
  callId: id,
  origin: 'agent',
  ...asked,
});

/** Returns the subagent that asks, the description, and earlier values of the call's fields. */
function questionContent({
  askedBy,
  description = '',
  earlier,
}: ApprovalItem): Acp.ToolCallContent[] {
  const before = earlier === undefined ? '' : `Before, the call said:\n\n${earlierText(earlier)}`;
  const asks = askedBy === undefined ? '' : `${askedBy} asks:`;
  return [
    ...toolContent(asks, [], []),
    ...toolContent(description, [], []),
    ...toolContent(before, [], []),
  ];
}

const earlierText = ({ arguments: json, ...rest }: Partial<AskedCall>): string =>
  JSON.stringify({ ...rest, ...(json !== undefined && { arguments: inputOf(json) }) }, null, 2);

export const updateOf = (toolCallId: string) =>
  ({ sessionUpdate: 'tool_call_update', toolCallId }) as const;

type CallFields = Partial<
  Pick<ToolCall, 'title' | 'name' | 'kind' | 'locations' | 'rawInput' | 'content'>
>;

export function titleOf(call: CallItem): string {
  if (call.type === 'script_execution') return 'Script';
  return call.title ?? call.name;
}

function callFields(item: CallItem, includesInput: boolean): CallFields {
  const title = titleOf(item);
  if (item.type === 'script_execution') {
    return { title, name: 'script', kind: 'execute', rawInput: { code: item.code } };
  }
  const { name, kind, locations, diffs = [], arguments: json } = item;
  return {
    title,
    name,
    ...(kind && { kind }),
    ...(locations && { locations }),
    ...(diffs.length > 0 && { content: toolContent('', [], diffs) }),
    ...(includesInput && { rawInput: inputOf(json) }),
  };
}

/**
 * Whether the arguments are complete although the agent has not ended the call yet. The arguments are complete if they
 * are a script's code or one JSON object.
 */
export function hasCompleteInput(item: CallItem): boolean {
  if (item.type === 'script_execution') return true;
  return item.arguments.trimEnd().endsWith('}') && typeof inputOf(item.arguments) === 'object';
}

/** Arguments that are not JSON are shown as text. */
function inputOf(json: string): unknown {
  try {
    return json === '' ? {} : (JSON.parse(json) as unknown);
  } catch {
    return json;
  }
}

const terminalOf = ({ id }: CallItem, isTerminal: boolean): Acp.ToolCallContent[] =>
  isTerminal ? [{ type: 'terminal', terminalId: id }] : [];

function exitOf({ id }: CallItem, printed: string, exitCode: number | null) {
  return {
    ...(printed !== '' && { terminal_output: { terminal_id: id, data: printed } }),
    terminal_exit: { terminal_id: id, exit_code: exitCode, signal: null },
  };
}

const exitCodeOf = (output: OutputOf): number | null =>
  ('exitCode' in output ? output.exitCode : undefined) ?? null;

function outputParts(call: CallItem, output: OutputOf) {
  const isScript = output.type === 'script_execution_output';
  const own = 'diffs' in call ? (call.diffs ?? []) : [];
  const diffs = isScript ? [] : (output.diffs ?? []);
  return {
    text: isScript ? output.result : output.output,
    blocks: isScript ? [] : (output.blocks ?? []),
    diffs: diffs.length > 0 ? diffs : own,
  };
}

/** Returns the output, the exit code and the error, for programs. */
function rawOutput(output: OutputOf): Record<string, unknown> {
  const error = errorOf(output);
  const failure = error === undefined ? {} : { error: diagnosis(error) };
  if (output.type === 'script_execution_output') return { result: output.result, ...failure };
  const exitCode = exitCodeOf(output);
  return { output: output.output, ...(exitCode !== null && { exitCode }), ...failure };
}

/** Returns an error for every failed tool. If the output has no error, the error is made from the exit code. */
function errorOf(output: OutputOf): ErrorObject | undefined {
  if (output.success || output.error !== undefined) return output.error;
  const exitCode = exitCodeOf(output);
  const message =
    exitCode === null ? 'The tool failed.' : `The program ended with exit code ${exitCode}.`;
  return { code: 'TOOL_FAILED', message };
}
