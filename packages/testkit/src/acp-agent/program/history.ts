/** Converts a session's updates to a replay: whole messages, tool calls in their final state, and no plans. */
export type Update = Record<string, unknown>;

const kept = new Set([
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
]);

export function readAgain(updates: readonly Update[]): Update[] {
  const read: Update[] = [];
  for (const update of updates) {
    const at = whereItGoes(read, update);
    if (at !== -1) read[at] = merged(read[at] ?? {}, update);
    else if (kept.has(String(update['sessionUpdate']))) read.push(update);
  }
  return read;
}

/**
 * Returns the index of the entry that the update continues: for an update of a tool call, the index of that call; for a
 * chunk, the last index if the last entry is a chunk of the same message.
 */
function whereItGoes(read: readonly Update[], update: Update): number {
  if (update['sessionUpdate'] === 'tool_call_update')
    return read.findLastIndex(({ toolCallId }) => toolCallId === update['toolCallId']);
  const last = read.at(-1);
  const goesOn =
    last !== undefined &&
    last['sessionUpdate'] === update['sessionUpdate'] &&
    textOf(last) !== undefined &&
    textOf(update) !== undefined;
  return goesOn ? read.length - 1 : -1;
}

function merged(before: Update, update: Update): Update {
  if (update['sessionUpdate'] === 'tool_call_update')
    return { ...before, ...update, sessionUpdate: 'tool_call' };
  return { ...before, content: { type: 'text', text: `${textOf(before)}${textOf(update)}` } };
}

function textOf({ content }: Update): string | undefined {
  if (typeof content !== 'object' || content === null || !('text' in content)) return undefined;
  return String(content.text);
}
