import type * as Acp from '@agentclientprotocol/sdk/unstable';
import { type ContentBlock, mentionLink, mentionOf } from '@liminal/protocol';
import type { ProjectPlace } from './client-paths.ts';

export interface Prompt {
  message: string;
  blocks: ContentBlock[];
}

/**
 * A prompt in our form: one text, and what is beside it. A link between words stands in the text as a mention of its
 * file, if it lies in the project, or by its name. One that comes right after a word is an attachment.
 */
export function readPrompt(prompt: readonly Acp.ContentBlock[], place: ProjectPlace): Prompt {
  let message = '';
  const blocks: ContentBlock[] = [];
  for (const block of prompt) {
    if (block.type === 'text') message += block.text;
    else if (block.type === 'resource_link') {
      const { words, link } = readLink(block, place);
      if (/(?:^|\s)$/.test(message)) message += words;
      blocks.push(link);
    } else blocks.push(readBlock(block));
  }
  return { message, blocks };
}

function readLink({ uri, name, ...link }: Acp.ResourceLink, { cwd, projectDir }: ProjectPlace) {
  const path = pathIn(projectDir, uri) ?? pathIn(cwd, uri);
  const { title, description, mimeType, size } = link;
  const more = {
    ...(title != null && { title }),
    ...(description != null && { description }),
    ...(mimeType != null && { mimeType }),
    ...(size != null && { size }),
  };
  if (path === undefined) {
    return { words: name, link: { type: 'resource_link' as const, uri, name, ...more } };
  }
  return { words: mentionOf(path), link: { ...mentionLink(projectDir, path), ...more } };
}

/** A file's path from a folder; undefined if it lies elsewhere. */
function pathIn(parent: string, uri: string): string | undefined {
  const folder = parent.endsWith('/') ? parent : `${parent}/`;
  try {
    const { protocol, pathname, hash } = new URL(uri);
    const path = decodeURIComponent(pathname);
    const isFile = protocol === 'file:' && hash === '' && path.startsWith(folder);
    return isFile && path.length > folder.length ? path.slice(folder.length) : undefined;
  } catch {
    return undefined;
  }
}

function readBlock(
  block: Exclude<Acp.ContentBlock, { type: 'text' | 'resource_link' }>,
): ContentBlock {
  if (block.type !== 'resource') {
    const { type, data, mimeType } = block;
    const name = block.type === 'image' && block.uri != null ? { name: block.uri } : {};
    return { type, data, mimeType, ...name };
  }
  const { uri, mimeType, ...content } = block.resource;
  const bytes = 'text' in content ? { text: content.text } : { blob: content.blob };
  const name = nameIn(uri);
  return {
    type: 'resource',
    resource: { uri, name, ...(mimeType != null && { mimeType }), ...bytes },
  };
}

const nowhere = 'attachment:///';

/** The store keeps a file by its content: its address, if that leads anywhere, is its name from then on. */
function nameIn(uri: string): string {
  if (!uri.startsWith(nowhere)) return uri;
  try {
    return decodeURIComponent(uri.slice(nowhere.length));
  } catch {
    return uri;
  }
}
