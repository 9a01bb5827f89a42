/** ACP's content blocks, as Liminal has them: the same, but that a field that is `null` is not there. */
import { z } from 'zod';
import { ContentBlock } from '@liminal/protocol';
import { isRecord } from './fields.ts';

const Text = z.looseObject({ type: z.literal('text'), text: z.string() });

export type ReadBlock = { text: string } | { block: ContentBlock } | { unread: unknown };

export function readBlock(value: unknown): ReadBlock {
  const text = Text.safeParse(value).data;
  if (text !== undefined) return { text: text.text };
  const block = ContentBlock.safeParse(withoutNulls(value)).data;
  return block === undefined ? { unread: value } : { block };
}

function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(entries.map(([key, field]) => [key, withoutNulls(field)]));
}
