/** One tool call, or script, and its output, as ACP's `tool_call` and `tool_call_update`. */
import type * as Acp from '@agentclientprotocol/sdk';
import type { ErrorObject, OutputItem } from '@liminal/protocol';
import { toolContent } from './content.ts';

type Of<Type extends OutputItem['type']> = Extract<OutputItem, { type: Type }>;
export type CallItem = Of<'function_call'> | Of<'script_execution'>;
export type OutputOf = Of<'function_call_output'> | Of<'script_execution_output'>;

type ToolCall = Extract<Acp.SessionUpdate, { sessionUpdate: 'tool_call' }>;
type ToolCallUpdate = Extract<Acp.SessionUpdate, { sessionUpdate: 'tool_call_update' }>;

/** What a client is first told of a call. `isWhole`: its arguments are all there, and it runs. */
export function announced(item: CallItem, isWhole: boolean, parentId?: string): ToolCall {
  const { title, ...fields } = faceOf(item, isWhole);
  return {
    sessionUpdate: 'tool_call',
    toolCallId: item.id,
    title: title ?? 'Tool',
    kind: 'other',
    ...fields,
    status: isWhole ? 'in_progress' : 'pending',
    ...(parentId !== undefined && { _meta: { parentToolCallId: parentId } }),
  };
}

/** What has changed of a call since; undefined if a client sees no difference. */
export function changed(
  before: CallItem,
  after: CallItem,
  isWhole: boolean,
): ToolCallUpdate | undefined {
  const [known, fields] = [faceOf(before, false), faceOf(after, isWhole)];
  const news = Object.entries(fields).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(known[key as keyof Face]),
  );
  if (news.length === 0 && !isWhole) return undefined;
  return {
    ...updateOf(after.id),
    ...Object.fromEntries(news),
    ...(isWhole && { status: 'in_progress' }),
  };
}

/** What the call has shown so far. */
export function shown(call: CallItem, output: OutputOf): ToolCallUpdate {
  const { text, blocks, diffs } = partsOf(call, output);
  return { ...updateOf(call.id), content: toolContent(text, blocks, diffs) };
}

/** How the call has ended. */
export function ended(call: CallItem, output: OutputOf): ToolCallUpdate {
  const { text, blocks, diffs } = partsOf(call, output);
  const { success, error } = output;
  return {
    ...updateOf(call.id),
    status: success && error === undefined ? 'completed' : 'failed',
    content: toolContent(text === '' ? (error?.message ?? '') : text, blocks, diffs),
    rawOutput: rawOutput(output),
  };
}

/** A call that ended without an output, or before there could be one. */
export function cutOff(call: CallItem, error: ErrorObject | undefined): ToolCallUpdate {
  if (error === undefined) return { ...updateOf(call.id), status: 'completed' };
  const diffs = 'diffs' in call ? (call.diffs ?? []) : [];
  return {
    ...updateOf(call.id),
    status: 'failed',
    content: toolContent(error.message, [], diffs),
    rawOutput: { error },
  };
}

const updateOf = (toolCallId: string) =>
  ({ sessionUpdate: 'tool_call_update', toolCallId }) as const;

type Face = Partial<
  Pick<ToolCall, 'title' | 'name' | 'kind' | 'locations' | 'rawInput' | 'content'>
>;

function faceOf(item: CallItem, isWhole: boolean): Face {
  if (item.type === 'script_execution') {
    return { title: 'Script', kind: 'execute', rawInput: { code: item.code } };
  }
  const { title, name, kind, locations, diffs = [], arguments: json } = item;
  return {
    title: title ?? name,
    name,
    ...(kind && { kind }),
    ...(locations && { locations }),
    ...(diffs.length > 0 && { content: toolContent('', [], diffs) }),
    ...(isWhole && { rawInput: inputOf(json) }),
  };
}

/** Arguments that are no JSON are shown as they came. */
function inputOf(json: string): unknown {
  try {
    return json === '' ? {} : (JSON.parse(json) as unknown);
  } catch {
    return json;
  }
}

function partsOf(call: CallItem, output: OutputOf) {
  const isScript = output.type === 'script_execution_output';
  const own = 'diffs' in call ? (call.diffs ?? []) : [];
  const diffs = isScript ? [] : (output.diffs ?? []);
  return {
    text: isScript ? output.result : output.output,
    blocks: isScript ? [] : (output.blocks ?? []),
    diffs: diffs.length > 0 ? diffs : own,
  };
}

/** For programs: what was said, the exit code, and why it failed. */
function rawOutput(output: OutputOf): Record<string, unknown> {
  const { error } = output;
  if (output.type === 'script_execution_output') {
    return error === undefined ? { result: output.result } : { error };
  }
  const { exitCode } = output;
  return {
    output: output.output,
    ...(exitCode != null && { exitCode }),
    ...(error !== undefined && { error }),
  };
}
