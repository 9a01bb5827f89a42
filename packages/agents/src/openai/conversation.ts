/** What both interfaces need to know of a conversation's items before they say them to a model. */
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { commonImages, fileInWords, linkInWords } from '../base/accepted-content.ts';
import { isRecord } from '../base/parse-line.ts';
import { wellFormed } from '../models/sendable.ts';

export type FunctionCall = Extract<OutputItem, { type: 'function_call' }>;
export type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

/** What this adapter has kept with an item; undefined with items of others. */
export function ownRaw({ raw }: OutputItem): Record<string, unknown> | undefined {
  const kept: unknown[] = Array.isArray(raw) ? raw : [raw];
  for (const one of kept) if (isRecord(one) && isRecord(one['openai'])) return one['openai'];
  return undefined;
}

/** A call's arguments as JSON of an object, which servers expect, also where the model wrote none. */
export function validArguments(text: string): string {
  if (text.trim() === '') return '{}';
  try {
    const input: unknown = JSON.parse(text);
    const whole = wellFormed(input);
    // A lone surrogate may be written as an escape.
    if (isRecord(whole)) return whole === input ? text : JSON.stringify(whole);
  } catch {
    // It goes as it is.
  }
  return JSON.stringify({ arguments: text });
}

/** A tool's name with the characters that servers take. */
export const validName = (name: string): string =>
  name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unknown';

/** A part of a message: words, or bytes with their type and name. */
export type Part =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio' | 'file'; mimeType: string; data: string; name: string };

/** A message in parts: its text first, then each block. Bytes that are not there are named. */
export function partsOf(text: string, blocks: readonly ContentBlock[] = []): Part[] {
  const words: Part[] = text === '' ? [] : [{ type: 'text', text }];
  return [...words, ...blocks.map(partOf)];
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'image':
    case 'audio': {
      const { type, mimeType, data, name = type } = block;
      const isShown = type === 'audio' || commonImages.includes(mimeType);
      return data === undefined || !isShown
        ? missing(name, mimeType)
        : { type, mimeType, data, name };
    }
    case 'resource': {
      const { uri, text, blob, name = uri, mimeType = 'application/octet-stream' } = block.resource;
      if (text !== undefined) return { type: 'text', text: fileInWords(block.resource) };
      // A server refuses the whole conversation for a type that it does not read.
      if (blob === undefined || mimeType !== 'application/pdf') return missing(name, mimeType);
      return { type: 'file', mimeType, data: blob, name };
    }
    case 'resource_link':
      return { type: 'text', text: linkInWords(block) };
  }
}

/** A part that this interface, or this conversation, cannot show to the model. */
export const missing = (name: string, mimeType: string): Part => ({
  type: 'text',
  text: `[${name} (${mimeType}) cannot be shown here]`,
});

export const dataUrl = ({ mimeType, data }: { mimeType: string; data: string }): string =>
  `data:${mimeType};base64,${data}`;
