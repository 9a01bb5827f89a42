import { fileUri } from '@liminal/client';
import type { ContentBlock } from '@liminal/protocol';
import { useState } from 'react';
import { joinClasses } from '../look/controls.tsx';
import { baseName } from '../words/paths.ts';
import css from './FileImage.module.css';
import { ImageView } from './ImageView.tsx';
import { useFile } from './use-file.ts';
import { labelOf } from '../words/label.ts';

export type ImageBlock = Extract<ContentBlock, { type: 'image' }>;

interface FileImageProps {
  block: ImageBlock;
  /** A class that sets a fixed size, so that nothing moves when the image arrives. */
  className?: string | undefined;
}

/** A small image in a message. A press shows the image large. */
export function FileImage({ block, className }: FileImageProps) {
  const [isOpen, setOpen] = useState(false);
  const file = useFile(fileUri(block));
  const { data, mimeType, size } = block;
  const src = file.url ?? (data === undefined ? undefined : `data:${mimeType};base64,${data}`);
  const name = imageName(block);
  const label = labelOf(name);
  if (file.problem !== undefined) {
    return (
      <span
        className={joinClasses(css.missing, className)}
        role="img"
        aria-label={label}
        title={label}
      >
        {file.problem}
      </span>
    );
  }
  return (
    <>
      <button
        type="button"
        className={joinClasses(css.open, className)}
        aria-label={`Show ${label}`}
        title={`Show ${label}`}
        disabled={src === undefined}
        onClick={() => setOpen(true)}
      >
        {src !== undefined && <img className={css.image} src={src} alt={label} />}
      </button>
      {isOpen && src !== undefined && (
        <ImageView src={src} name={name} size={size} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

/** Returns a name that can be shown for the image: `name` may be an address. */
export function imageName({ name }: ImageBlock): string {
  return name === undefined ? 'Image' : baseName(name);
}
