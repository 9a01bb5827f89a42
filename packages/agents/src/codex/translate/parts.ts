/** The parts of a tool's result: its text, and what is shown beside it. */
import { basename, isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ContentBlock, imageType, maxItemSize, sizeOf } from '@liminal/protocol';
import { isRecord } from '../../base/parse-line.ts';
import { blockOfUrl } from '../prompt.ts';

export interface Parts {
  output: string;
  blocks?: ContentBlock[];
}

/** Of an item, besides its text and blocks. */
const itemItself = 1_000;

/** Reads what an MCP server, a client's tool, or the model's service has answered. What has no form is shown as it came. */
export function readParts(parts: readonly unknown[]): Parts {
  const read = parts.map((part) => blockOf(part) ?? { text: textOf(part) });
  const texts = read.flatMap((one) => ('type' in one ? [] : [one.text]));
  let room = maxItemSize - itemItself - sizeOf(texts, maxItemSize);
  const blocks: ContentBlock[] = [];
  for (const block of read) {
    if (!('type' in block)) continue;
    const size = sizeOf(block, maxItemSize);
    // Bytes that are cut cannot be read.
    if (size > room) texts.push(`A part of type ${block.type} is too large to be shown.`);
    else {
      room -= size;
      blocks.push(block);
    }
  }
  return { output: texts.join('\n'), ...(blocks.length > 0 && { blocks }) };
}

function textOf(part: unknown): string {
  const text = isRecord(part) ? part['text'] : undefined;
  return typeof text === 'string' ? text : JSON.stringify(part);
}

function blockOf(part: unknown): ContentBlock | undefined {
  if (!isRecord(part)) return undefined;
  // Of a client's tool, and of the Responses API.
  const url = ['imageUrl', 'image_url', 'audioUrl', 'audio_url'].map((name) => part[name]);
  const data = url.find((one) => typeof one === 'string');
  if (data !== undefined) return blockOfUrl(data);
  const block = ContentBlock.safeParse(part).data;
  if (block?.type !== 'image' && block?.type !== 'audio') return block;
  return isBase64(block.data) ? block : undefined;
}

/** As a server's store takes it. */
function isBase64(data = ''): boolean {
  if (data.length === 0 || data.length % 4 !== 0) return false;
  // What looks for one character needs no stack, however long the text is.
  const end = data.search(/[^A-Za-z0-9+/]/);
  return end === -1 || (end > 0 && ['=', '=='].includes(data.slice(end)));
}

/** What is shown of a picture in a file, or, where it cannot be, a link to that file. @param data - In base64. */
export function pictureOf(
  path: string | null | undefined,
  data: string | null | undefined,
): Pick<Parts, 'blocks'> {
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
