/** The parts of a tool's result: its text and its content blocks. */
import { basename, isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ContentBlock, imageType, maxItemSize, sizeOf } from '@liminal/protocol';
import { isRecord } from '../../../base/parse-line.ts';
import { blockOfUrl } from '../prompt.ts';

export interface OutputParts {
  output: string;
  blocks?: ContentBlock[];
}

/** Characters that are reserved for an item's other fields. */
const itemItself = 1_000;

/**
 * Reads the answer of an MCP server, a client's tool, or the model's service. A part of an unknown type becomes a text
 * with its JSON.
 */
export function readParts(parts: readonly unknown[]): OutputParts {
  const read = parts.map((part) => blockOf(part) ?? { text: partText(part) });
  const texts = read.flatMap((one) => ('type' in one ? [] : [one.text]));
  let room = maxItemSize - itemItself - sizeOf(texts, maxItemSize);
  const blocks: ContentBlock[] = [];
  for (const block of read) {
    if (!('type' in block)) continue;
    const size = sizeOf(block, maxItemSize);
    // A block that is too large is left out, because the cut bytes of, for example, an image could not be read.
    if (size > room) texts.push(`A part of type ${block.type} is too large to be shown.`);
    else {
      room -= size;
      blocks.push(block);
    }
  }
  return { output: texts.join('\n'), ...(blocks.length > 0 && { blocks }) };
}

function partText(part: unknown): string {
  const text = isRecord(part) ? part['text'] : undefined;
  return typeof text === 'string' ? text : JSON.stringify(part);
}

function blockOf(part: unknown): ContentBlock | undefined {
  if (!isRecord(part)) return undefined;
  // The results of clients' tools and the Responses API use these names.
  const url = ['imageUrl', 'image_url', 'audioUrl', 'audio_url'].map((name) => part[name]);
  const data = url.find((one) => typeof one === 'string');
  if (data !== undefined) return blockOfUrl(data);
  const block = ContentBlock.safeParse(part).data;
  if (block?.type !== 'image' && block?.type !== 'audio') return block;
  return isBase64(block.data) ? block : undefined;
}

/** Returns whether the server's store accepts the text as base64. */
function isBase64(data = ''): boolean {
  if (data.length === 0 || data.length % 4 !== 0) return false;
  // Search for a single character: a pattern for the whole text could overflow the stack if the text is long.
  const end = data.search(/[^A-Za-z0-9+/]/);
  return end === -1 || (end > 0 && ['=', '=='].includes(data.slice(end)));
}

/** Returns a file's picture, or a link to the file if the picture cannot be shown. @param data - In base64. */
export function pictureOf(
  path: string | null | undefined,
  data: string | null | undefined,
): Pick<OutputParts, 'blocks'> {
  const file = path != null && isAbsolute(path) ? path : undefined;
  const name = file === undefined ? {} : { name: basename(file) };
  const image = data == null ? undefined : imageOf(data);
  if (image !== undefined) return { blocks: [{ ...image, ...name }] };
  if (file === undefined) return {};
  return {
    blocks: [{ type: 'resource_link', uri: pathToFileURL(file).href, name: basename(file) }],
  };
}

function imageOf(data: string): ContentBlock | undefined {
  const mimeType = imageType(Buffer.from(data.slice(0, 64), 'base64'));
  const fits = data.length < maxItemSize - itemItself && isBase64(data);
  return fits && mimeType !== undefined ? { type: 'image', mimeType, data } : undefined;
}
