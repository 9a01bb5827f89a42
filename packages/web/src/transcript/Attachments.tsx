import { fileUri } from '@liminal/client';
import type { ContentBlock } from '@liminal/protocol';
import { FileText } from 'lucide-react';
import { FileChip } from '../attachments/FileChip.tsx';
import { FileImage } from '../attachments/FileImage.tsx';
import { FileLink } from '../files/FileLink.tsx';
import { linkTarget } from '../files/file-target.ts';
import { baseName } from '../words/paths.ts';
import css from './Attachments.module.css';
import { labelOf } from '../words/label.ts';

interface AttachmentsProps {
  blocks?: readonly ContentBlock[] | undefined;
  /**
   * `small` is for a line of text, `mine` for a person's own attachments, and `shown` (larger) for an agent's
   * attachments.
   */
  look?: 'small' | 'mine' | 'shown';
}

/** Shows a message's attachments. Files are fetched only from the server's own store. */
export function Attachments({ blocks = [], look = 'shown' }: AttachmentsProps) {
  if (blocks.length === 0) return null;
  return (
    <ul className={css.list} aria-label="Attachments" data-look={look}>
      {blocks.map((block, index) => (
        <li key={index}>
          <Attachment block={block} isOnly={blocks.length === 1} />
        </li>
      ))}
    </ul>
  );
}

function Attachment({ block, isOnly }: { block: ContentBlock; isOnly: boolean }) {
  const uri = fileUri(block);
  switch (block.type) {
    case 'image':
      if (uri === undefined && block.data === undefined) return <NamedFile {...linkOf(block)} />;
      return <FileImage block={block} className={isOnly ? css.one : css.several} />;
    case 'audio': {
      const name = block.name ?? `Audio, ${block.mimeType}`;
      if (uri === undefined) return <NamedFile name={name} />;
      return <FileChip uri={uri} name={baseName(name)} size={block.size} isAudio />;
    }
    case 'resource': {
      const { name, size, uri: address } = block.resource;
      if (uri === undefined) return <NamedFile name={baseName(address)} title={address} />;
      return <FileChip uri={uri} name={baseName(name ?? 'File')} size={size} isAudio={false} />;
    }
    case 'resource_link':
      return <NamedFile name={block.title ?? block.name} title={block.uri} />;
  }
}

/** Returns a link to an image that is not in the server's store. */
function linkOf({ uri, name }: Extract<ContentBlock, { type: 'image' }>) {
  const title = name ?? uri;
  return { name: title === undefined ? 'Image' : baseName(title), ...(uri && { title: uri }) };
}

function NamedFile({ name, title }: { name: string; title?: string }) {
  const target = title === undefined ? undefined : linkTarget(title);
  return (
    <span className={css.file} title={title && labelOf(title)}>
      <FileText size={14} aria-hidden="true" />
      {target === undefined ? name : <FileLink target={target}>{name}</FileLink>}
    </span>
  );
}
