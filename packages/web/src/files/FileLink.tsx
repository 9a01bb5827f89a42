import { markHidden } from '@liminal/protocol';
import type { ReactNode } from 'react';
import css from './FileLink.module.css';
import { type FileTarget, targetWords } from './file-target.ts';
import { useSessionFiles } from './files.ts';
import { labelOf } from '../words/label.ts';

interface FileLinkProps {
  target: FileTarget;
  children?: ReactNode;
}

/**
 * A link that opens a file beside the conversation. The link has no web address, because an address would lead away
 * from the app.
 */
export function FileLink({ target, children }: FileLinkProps) {
  const files = useSessionFiles();
  const words = markHidden(targetWords(target));
  if (files === undefined) return <span title={labelOf(words)}>{children ?? words}</span>;
  return (
    <button
      type="button"
      className={css.link}
      title={`Show ${labelOf(words)}`}
      onClick={() => files.open(target)}
    >
      {children ?? words}
    </button>
  );
}
