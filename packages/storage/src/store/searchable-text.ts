import type { OutputItem, ResponseStatus } from '@liminal/protocol';

/** The number of characters that are searched: in messages of people and models, and in inputs and outputs of tools. */
const textMax = 100_000;
const toolMax = 20_000;

/** Returns the part of an item's text that is searched. */
export function searchableText(item: OutputItem): string {
  switch (item.type) {
    case 'message':
    case 'reasoning':
      return item.content.slice(0, textMax);
    case 'function_call':
      return [item.title ?? '', item.name, valuesOf(item.arguments)].join('\n').slice(0, toolMax);
    case 'function_call_output':
      return item.output.slice(0, toolMax);
    case 'script_execution':
      return item.code.slice(0, toolMax);
    case 'script_execution_output':
      return valuesOf(item.result).slice(0, toolMax);
    case 'plan':
      return item.entries
        .map(({ content }) => content)
        .join('\n')
        .slice(0, textMax);
    case 'file_changes':
      // File changes are not searched, because the calls that made the changes are searched.
      return '';
    case 'approval':
      return item.title.slice(0, textMax);
    case 'error':
      return `${item.code}\n${item.message}`.slice(0, textMax);
  }
}

export function searchableTitle({ title }: { title: string }): string {
  return title.slice(0, textMax);
}

/** Returns whether an item is final, so that it can be indexed. */
export function isSettled(item: OutputItem, status: ResponseStatus): boolean {
  return item.endedAt !== undefined || !isUnderWay(status);
}

export function isUnderWay(status: ResponseStatus): boolean {
  return status === 'in_progress' || status === 'queued';
}

/** The longest JSON text that is parsed, in characters. Of a longer text, the beginning is searched as plain text. */
const parsedMax = 200_000;

/**
 * Returns the values in a JSON text, without syntax and escapes; returns only the beginning that is searched. Returns a
 * text that is not JSON unchanged.
 */
function valuesOf(json: string): string {
  if (json.length > parsedMax) return json;
  const values: string[] = [];
  try {
    gather(JSON.parse(json), values, toolMax);
  } catch {
    return json;
  }
  return values.join('\n');
}

/** Collects values. Returns the remaining room. */
function gather(value: unknown, values: string[], room: number): number {
  if (typeof value === 'string' || typeof value === 'number') {
    values.push(String(value));
    return room - String(value).length - 1;
  }
  if (typeof value !== 'object' || value === null) return room;
  let left = room;
  for (const inner of Object.values(value)) {
    if (left <= 0) break;
    left = gather(inner, values, left);
  }
  return left;
}
