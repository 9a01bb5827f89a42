/** Converts blocks of the Messages API to items. */
import type { OutputItem, ToolKind } from '@liminal/protocol';
import { isRecord, parseLine } from '../../../base/parse-line.ts';
import { webSearchCall } from '../../../base/web-search.ts';

type Fields = Record<string, unknown>;

type BlockKind = 'text' | 'thinking' | 'call' | 'result' | 'other';

/** Returns the kind of a block. Each of the maker's own tools has its own block types for calls and results. */
function blockKindOf({ type }: Fields): BlockKind {
  const name = typeof type === 'string' ? type : '';
  if (name === 'text' || name === 'thinking') return name;
  if (name.endsWith('tool_use')) return 'call';
  return name.endsWith('tool_result') ? 'result' : 'other';
}

/** Returns the initial item of a block, without streamed text. */
export function itemOf(block: Fields, id: string): OutputItem {
  switch (blockKindOf(block)) {
    case 'text':
      return { type: 'message', id, content: '', origin: 'agent' };
    case 'call': {
      const name = stringField(block, 'name') ?? 'unknown';
      const call = { type: 'function_call', id, callId: id, name, arguments: '' } as const;
      return { ...call, ...describeCall(block), origin: 'agent' };
    }
    case 'result': {
      const { content } = block;
      const callId = stringField(block, 'tool_use_id') ?? id;
      const success = !isFailure(block);
      const output = readable(content);
      return { type: 'function_call_output', id, callId, output, success, origin: 'system' };
    }
    // Redacted thinking and blocks of future types have no text, but keep their position among the other blocks.
    case 'thinking':
    case 'other':
      return { type: 'reasoning', id, content: '', origin: 'agent' };
  }
}

/** Returns the title and kind that people see for a call of the maker's web search. */
export function describeCall(block: Fields, json = ''): { title?: string; kind?: ToolKind } {
  if (block['type'] !== 'server_tool_use' || block['name'] !== 'web_search') return {};
  const input = parseLine(json);
  const query = isRecord(input) ? stringField(input, 'query') : undefined;
  const { title, kind } = webSearchCall({ kind: 'search', query });
  return { title, kind };
}

const held: Record<BlockKind, string[]> = {
  text: ['text', 'citations'],
  thinking: ['thinking', 'signature'],
  call: ['id', 'name', 'input'],
  result: [],
  other: [],
};

/** Returns whether the item already contains the content of this block field, or receives the content from deltas. */
export const heldByItem = (block: Fields, field: string): boolean =>
  held[blockKindOf(block)].includes(field);

/** Returns whether a block is a call, of Liminal's tools or of the maker's own. */
export const isCall = (block: Fields): boolean => blockKindOf(block) === 'call';

/** Returns the input of a call, if the input was in the block and not streamed. */
export function inputJson({ input }: Fields): string {
  if (typeof input === 'string' && input !== '') return input;
  return isRecord(input) ? JSON.stringify(input) : '{}';
}

const isFailure = ({ is_error: isError, content }: Fields): boolean =>
  isError === true ||
  (isRecord(content) && typeof content['type'] === 'string' && content['type'].endsWith('_error'));

/** Returns the result of a server's tool, as text for people; the item's `raw` has the whole result. */
function readable(content: unknown): string {
  if (typeof content === 'string') return content;
  if (isRecord(content) && typeof content['error_code'] === 'string') {
    return `The server’s tool failed: ${content['error_code']}.`;
  }
  if (!Array.isArray(content)) return JSON.stringify(content ?? null);
  return content.map(readableEntry).join('\n\n');
}

function readableEntry(entry: unknown): string {
  if (!isRecord(entry)) return JSON.stringify(entry);
  const texts = ['title', 'url', 'text'].flatMap((name) => stringField(entry, name) ?? []);
  return texts.length > 0 ? texts.join('\n') : JSON.stringify(entry);
}

export function stringField(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}
