import { isPlainDelta, type PlainDelta } from './translate/plain-delta.ts';

/** How a line begins that may be a delta. */
const deltaStart = '{"type":"stream_event","event":{"type":"content_block_delta"';

/** Lines of Claude Code's, in which deltas of one block that follow each other are one delta with all of their text. */
export function joinDeltas(lines: readonly string[]): string[] {
  const joined: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const first = lines[at + 1]?.startsWith(deltaStart) === true ? readDelta(line) : undefined;
    const texts: string[] = [];
    for (let next = first; first && next && isSameBlock(first, next);) {
      texts.push(next.text);
      next = readDelta(lines[at + texts.length]);
    }
    joined.push(first && texts.length > 1 ? withText(first, texts.join('')) : line);
    if (texts.length > 1) at += texts.length - 1;
  }
  return joined;
}

interface Delta {
  message: PlainDelta;
  /** The field that the text stands in. */
  field: 'text' | 'thinking' | 'partial_json';
  text: string;
}

function readDelta(line = ''): Delta | undefined {
  const message = line.startsWith(deltaStart) ? parsed(line) : undefined;
  if (!isPlainDelta(message)) return undefined;
  const { text, thinking, partial_json: json, ...rest } = message.event.delta;
  if (Object.keys(rest).length > 1) return undefined;
  if (text !== undefined) return { message, field: 'text', text };
  if (thinking !== undefined) return { message, field: 'thinking', text: thinking };
  return json === undefined ? undefined : { message, field: 'partial_json', text: json };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isSameBlock({ message: a, field }: Delta, { message: b, ...other }: Delta): boolean {
  return (
    field === other.field &&
    a.event.index === b.event.index &&
    a.parent_tool_use_id === b.parent_tool_use_id
  );
}

function withText({ message, field }: Delta, text: string): string {
  const { event } = message;
  return JSON.stringify({
    ...message,
    event: { ...event, delta: { type: event.delta.type, [field]: text } },
  });
}
