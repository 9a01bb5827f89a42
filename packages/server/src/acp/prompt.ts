import type * as Acp from '@agentclientprotocol/sdk/unstable';
import { type ContentBlock, mentionLink, mentionOf } from '@liminal/protocol';
import type { ProjectPaths } from './client-paths.ts';

export interface Prompt {
  message: string;
  blocks: ContentBlock[];
}

/**
 * Converts a prompt to one text and its attachments. If a link follows a space, the link is also written into the text:
 * as a mention if its file is in the project, otherwise as its name. If a link follows a word directly, the link
 * becomes only an attachment.
 */
export function readPrompt(prompt: readonly Acp.ContentBlock[], paths: ProjectPaths): Prompt {
  let message = '';
  const blocks: ContentBlock[] = [];
  for (const block of prompt) {
    if (block.type === 'text') message += block.text;
    else if (block.type === 'resource_link') {
      const { words, link } = readLink(block, paths);
      if (/(?:^|\s)$/.test(message)) message += words;
      blocks.push(link);
    } else blocks.push(readBlock(block));
  }
  return { message, blocks };
}

function readLink({ uri, name, ...link }: Acp.ResourceLink, { cwd, projectDir }: ProjectPaths) {
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

/** Returns the path of the file relative to `parent`; undefined if the file is not below `parent`. */
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

const attachmentPrefix = 'attachment:///';

/**
 * Returns the resource's name. The blob store addresses a file by its content, so the client's URI is stored as the
 * file's name. An `attachment:` URI contains only the name.
 */
function nameIn(uri: string): string {
  if (!uri.startsWith(attachmentPrefix)) return uri;
  try {
    return decodeURIComponent(uri.slice(attachmentPrefix.length));
  } catch {
    return uri;
  }
}
