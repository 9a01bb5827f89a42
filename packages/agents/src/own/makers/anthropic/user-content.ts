/** Converts people's attachments and tools' results to content of the Messages API. */
import type Anthropic from '@anthropic-ai/sdk';
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { commonImages, fileAsText, linkAsText } from '../../../base/accepted-content.ts';

type Resource = Extract<ContentBlock, { type: 'resource' }>['resource'];
type ContentPart =
  | Anthropic.TextBlockParam
  | Anthropic.ImageBlockParam
  | Anthropic.DocumentBlockParam;

/** Returns a user's message; empty if it has no content. */
export function userContent(content: string, blocks: readonly ContentBlock[]): ContentPart[] {
  const text = content.trim() === '' ? [] : [textBlock(content)];
  return [...text, ...blocks.map(toContentPart)];
}

/** Returns the content of a tool's result. */
export function resultContent(
  item: Extract<OutputItem, { type: 'function_call_output' }>,
): string | ContentPart[] {
  const output = item.output.trim() === '' ? '(No output.)' : item.output;
  const parts = (item.blocks ?? []).map(toContentPart);
  if (parts.length === 0) return output;
  const text = item.output.trim() === '' ? [] : [textBlock(output)];
  // In the result of a failed call, the API accepts only text.
  return [...text, ...(item.success ? parts : parts.map(asTextPart))];
}

/**
 * The longest image that the API accepts, in base64 characters; a longer image would make the API reject the whole
 * conversation.
 */
const longestImage = 10 * 1024 * 1024;

const textBlock = (text: string): Anthropic.TextBlockParam => ({ type: 'text', text });
const omitted = (what: string): Anthropic.TextBlockParam =>
  textBlock(`(Left out, because this model does not accept it: ${what}.)`);
const asTextPart = (part: ContentPart): ContentPart =>
  part.type === 'text' ? part : omitted(part.type === 'image' ? 'an image' : 'a document');

function toContentPart(block: ContentBlock): ContentPart {
  switch (block.type) {
    case 'image':
      return (
        toImagePart(block.mimeType, block.data) ?? omitted(named('image', block.mimeType, block))
      );
    case 'audio':
      return omitted(named('sound', block.mimeType, block));
    case 'resource':
      return toFilePart(block.resource);
    case 'resource_link':
      return textBlock(linkAsText(block));
  }
}

function toImagePart(mimeType: string, data: string | undefined): ContentPart | undefined {
  if (data === undefined || data === '' || !commonImages.includes(mimeType)) return undefined;
  if (data.length > longestImage) return omitted('an image of more than 7.5 MiB');
  // Only types that the API supports reach this line.
  const media_type = mimeType as Anthropic.Base64ImageSource['media_type'];
  return { type: 'image', source: { type: 'base64', media_type, data } };
}

function toFilePart(resource: Resource): ContentPart {
  const { uri, name: title = uri, mimeType = '', text, blob = '' } = resource;
  if (text !== undefined) return textBlock(fileAsText(resource));
  if (mimeType === 'application/pdf' && blob !== '') {
    const source = { type: 'base64', media_type: mimeType, data: blob } as const;
    return { type: 'document', title, source };
  }
  return toImagePart(mimeType, blob) ?? omitted(named('file', mimeType, { name: title }));
}

function named(what: string, mimeType: string, { name }: { name?: string | undefined }): string {
  const type = mimeType === '' ? '' : ` (${mimeType})`;
  return `the ${what}${name === undefined ? '' : ` ${name}`}${type}`;
}
