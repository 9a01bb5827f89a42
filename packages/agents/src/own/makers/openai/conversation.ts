/** Converts items of a conversation for both of OpenAI's APIs. */
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { commonImages, fileAsText, linkAsText } from '../../../base/accepted-content.ts';
import { isRecord } from '../../../base/parse-line.ts';
import { wellFormed } from '../../loop/sendable.ts';

export type CallItem = Extract<OutputItem, { type: 'function_call' }>;
export type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

/** Returns the raw data that this adapter has stored with an item; undefined for items of other makers. */
export function ownRaw({ raw }: OutputItem): Record<string, unknown> | undefined {
  const kept: unknown[] = Array.isArray(raw) ? raw : [raw];
  for (const one of kept) if (isRecord(one) && isRecord(one['openai'])) return one['openai'];
  return undefined;
}

/**
 * Returns a call's arguments as a JSON object, because servers expect an object; any other text is put into an object.
 */
export function validArguments(text: string): string {
  if (text.trim() === '') return '{}';
  try {
    const input: unknown = JSON.parse(text);
    const repaired = wellFormed(input);
    // The text may contain an escaped lone surrogate.
    if (isRecord(repaired)) return repaired === input ? text : JSON.stringify(repaired);
  } catch {
    // If the text is not JSON, the text is wrapped below.
  }
  return JSON.stringify({ arguments: text });
}

/** Returns a tool's name, reduced to the characters that servers accept. */
export const validName = (name: string): string =>
  name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unknown';

/** A part of a message: text, or bytes with their type and name. */
export type MessagePart =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio' | 'file'; mimeType: string; data: string; name: string };

/** Returns a message in parts: first its text, then each block. A block without bytes is only named. */
export function messageParts(text: string, blocks: readonly ContentBlock[] = []): MessagePart[] {
  const words: MessagePart[] = text === '' ? [] : [{ type: 'text', text }];
  return [...words, ...blocks.map(toMessagePart)];
}

function toMessagePart(block: ContentBlock): MessagePart {
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
      if (text !== undefined) return { type: 'text', text: fileAsText(block.resource) };
      // A server rejects the whole conversation if it cannot read the type of one file.
      if (blob === undefined || mimeType !== 'application/pdf') return missing(name, mimeType);
      return { type: 'file', mimeType, data: blob, name };
    }
    case 'resource_link':
      return { type: 'text', text: linkAsText(block) };
  }
}

/** Returns a text with the name of a part that the model cannot get through this API, or in this conversation. */
export const missing = (name: string, mimeType: string): MessagePart => ({
  type: 'text',
  text: `[${name} (${mimeType}) cannot be shown here]`,
});

export const dataUrl = ({ mimeType, data }: { mimeType: string; data: string }): string =>
  `data:${mimeType};base64,${data}`;
