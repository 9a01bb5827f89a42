/** Reads ACP's content blocks. Liminal's blocks are the same, without fields that are `null`. */
import { z } from 'zod';
import { ContentBlock } from '@liminal/protocol';
import { isRecord, readFields } from './fields.ts';

const text = { type: z.literal('text'), text: z.string() };

/** `unread` is the part that cannot be shown: the whole block, or the unknown fields of a text block. */
export interface ReadBlock {
  text?: string;
  block?: ContentBlock;
  unread?: unknown;
}

export function readBlock(value: unknown): ReadBlock {
  const { fields, rest } = readFields(value, text);
  if (fields.type === 'text' && fields.text !== undefined) {
    return { text: fields.text, ...(rest !== undefined && { unread: rest }) };
  }
  const block = ContentBlock.safeParse(withoutNulls(value)).data;
  if (block === undefined) return { unread: value };
  const unread = extras(value, block);
  return { block, ...(unread !== undefined && { unread }) };
}

/** Returns the fields of `value` that `read` lacks. */
function extras(value: unknown, read: unknown): Record<string, unknown> | undefined {
  if (!isRecord(value) || !isRecord(read)) return undefined;
  const left = Object.entries(value).flatMap(([key, field]): [string, unknown][] => {
    if (field === null) return [];
    if (!Object.hasOwn(read, key)) return [[key, field]];
    const inner = extras(field, read[key]);
    return inner === undefined ? [] : [[key, inner]];
  });
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/**
 * Removes fields that are `null`: in ACP, `null` means that the field is missing. Blocks are at most two levels deep.
 */
function withoutNulls(value: unknown, depth = 2): unknown {
  if (!isRecord(value) || depth === 0) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(entries.map(([key, field]) => [key, withoutNulls(field, depth - 1)]));
}
