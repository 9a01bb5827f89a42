import type { ContentBlock } from '@liminal/protocol';
import { FileText } from 'lucide-react';
import { FileLink } from '../files/FileLink.tsx';
import { linkTarget } from '../files/file-target.ts';
import { baseName } from '../words/paths.ts';
import css from './Attachments.module.css';

/** A message's attachments. Only embedded content is shown: nothing is fetched. */
export function Attachments({ blocks = [] }: { blocks?: readonly ContentBlock[] | undefined }) {
  if (blocks.length === 0) return null;
  return (
    <ul className={css.list} aria-label="Attachments">
      {blocks.map((block, index) => (
        <li key={index}>
          <Attachment block={block} />
        </li>
      ))}
    </ul>
  );
}

function Attachment({ block }: { block: ContentBlock }) {
  switch (block.type) {
    case 'image':
      return (
        <img
          className={css.image}
          src={`data:${block.mimeType};base64,${block.data}`}
          alt={block.uri === undefined ? 'Attached' : baseName(block.uri)}
        />
      );
    case 'audio':
      return <Named name={`Audio, ${block.mimeType}`} />;
    case 'resource':
      return <Named name={baseName(block.resource.uri)} title={block.resource.uri} />;
    case 'resource_link':
      return <Named name={block.title ?? block.name} title={block.uri} />;
  }
}

function Named({ name, title }: { name: string; title?: string }) {
  const target = title === undefined ? undefined : linkTarget(title);
  return (
    <span className={css.file} title={title}>
      <FileText size={14} aria-hidden="true" />
      {target === undefined ? name : <FileLink target={target}>{name}</FileLink>}
    </span>
  );
}
