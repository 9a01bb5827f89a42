/** Converts people's attachments and tools' results to content of the Messages API. */
import type Anthropic from '@anthropic-ai/sdk';
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { commonImages, fileInWords, linkInWords } from '../base/accepted-content.ts';

type Resource = Extract<ContentBlock, { type: 'resource' }>['resource'];
type Part = Anthropic.TextBlockParam | Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam;

/** A user's message; empty if it has no content. */
export function userContent(content: string, blocks: readonly ContentBlock[]): Part[] {
  const text = content.trim() === '' ? [] : [words(content)];
  return [...text, ...blocks.map(partOf)];
}

/** The content of a tool's result. */
export function resultContent(
  item: Extract<OutputItem, { type: 'function_call_output' }>,
): string | Part[] {
  const output = item.output.trim() === '' ? '(No output.)' : item.output;
  const parts = (item.blocks ?? []).map(partOf);
  if (parts.length === 0) return output;
  const said = item.output.trim() === '' ? [] : [words(output)];
  // The API accepts only text in the result of a failed call.
  return [...said, ...(item.success ? parts : parts.map(inText))];
}

/** The longest image that the API accepts, in base64 characters; for a longer one it rejects the whole conversation. */
const longestImage = 10 * 1024 * 1024;

const words = (text: string): Anthropic.TextBlockParam => ({ type: 'text', text });
const leftOut = (what: string): Anthropic.TextBlockParam =>
  words(`(Left out, because this model does not accept it: ${what}.)`);
const inText = (part: Part): Part =>
  part.type === 'text' ? part : leftOut(part.type === 'image' ? 'an image' : 'a document');

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'image':
      return imageOf(block.mimeType, block.data) ?? leftOut(named('image', block.mimeType, block));
    case 'audio':
      return leftOut(named('sound', block.mimeType, block));
    case 'resource':
      return fileOf(block.resource);
    case 'resource_link':
      return words(linkInWords(block));
  }
}

function imageOf(mimeType: string, data: string | undefined): Part | undefined {
  if (data === undefined || data === '' || !commonImages.includes(mimeType)) return undefined;
  if (data.length > longestImage) return leftOut('an image of more than 7.5 MiB');
  // Only types that the API supports get here.
  const media_type = mimeType as Anthropic.Base64ImageSource['media_type'];
  return { type: 'image', source: { type: 'base64', media_type, data } };
}

function fileOf(resource: Resource): Part {
  const { uri, name: title = uri, mimeType = '', text, blob = '' } = resource;
  if (text !== undefined) return words(fileInWords(resource));
  if (mimeType === 'application/pdf' && blob !== '') {
    const source = { type: 'base64', media_type: mimeType, data: blob } as const;
    return { type: 'document', title, source };
  }
  return imageOf(mimeType, blob) ?? leftOut(named('file', mimeType, { name: title }));
}

function named(what: string, mimeType: string, { name }: { name?: string | undefined }): string {
  const type = mimeType === '' ? '' : ` (${mimeType})`;
  return `the ${what}${name === undefined ? '' : ` ${name}`}${type}`;
}
