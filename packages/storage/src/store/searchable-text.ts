import type { OutputItem, ResponseStatus } from '@liminal/protocol';

/** Characters of one text that are searched: what people and models say, and what tools are given and put out. */
const SAID_MAX = 100_000;
const TOOL_MAX = 20_000;

/** What of an item search looks at. */
export function searchableText(item: OutputItem): string {
  switch (item.type) {
    case 'message':
    case 'reasoning':
      return item.content.slice(0, SAID_MAX);
    case 'function_call':
      return [item.title ?? '', item.name, valuesOf(item.arguments)].join('\n').slice(0, TOOL_MAX);
    case 'function_call_output':
      return item.output.slice(0, TOOL_MAX);
    case 'script_execution':
      return item.code.slice(0, TOOL_MAX);
    case 'script_execution_output':
      return valuesOf(item.result).slice(0, TOOL_MAX);
    case 'plan':
      return item.entries
        .map(({ content }) => content)
        .join('\n')
        .slice(0, SAID_MAX);
    case 'approval':
      return item.title.slice(0, SAID_MAX);
    case 'error':
      return `${item.code}\n${item.message}`.slice(0, SAID_MAX);
  }
}

export function searchableTitle({ title }: { title: string }): string {
  return title.slice(0, SAID_MAX);
}

/** Whether it changes no more, so that it is worth a place in an index. */
export function isSettled(item: OutputItem, status: ResponseStatus): boolean {
  return item.endedAt !== undefined || !isUnderWay(status);
}

export function isUnderWay(status: ResponseStatus): boolean {
  return status === 'in_progress' || status === 'queued';
}

/** The values in a JSON text without its syntax and escapes; a text that is none, as it is. */
function valuesOf(json: string): string {
  try {
    return [...leaves(JSON.parse(json))].join('\n');
  } catch {
    return json;
  }
}

function* leaves(value: unknown): Generator<string> {
  if (typeof value === 'string' || typeof value === 'number') yield String(value);
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) yield* leaves(inner);
}
