/** ACP's content blocks, as Liminal has them: the same, but that a field that is `null` is not there. */
import { z } from 'zod';
import { ContentBlock } from '@liminal/protocol';
import { isRecord, readFields } from './fields.ts';

const text = { type: z.literal('text'), text: z.string() };

/** `unread` is what cannot be shown: the whole block, or what a text has beside its words. */
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
  return block === undefined ? { unread: value } : { block };
}

/** As ACP has it, `null` is a field that is not there; two levels deep is as far as blocks go. */
function withoutNulls(value: unknown, depth = 2): unknown {
  if (!isRecord(value) || depth === 0) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(entries.map(([key, field]) => [key, withoutNulls(field, depth - 1)]));
}
