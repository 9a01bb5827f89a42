import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import css from './Notes.module.css';

interface ErrorNoteProps {
  title?: string;
  code?: string | undefined;
  message?: string | undefined;
  itemId?: string;
  /** What can be done about it. */
  children?: ReactNode;
}

/** An error in plain words, with its code for those who look it up. */
export function ErrorNote({ title, code, message, itemId, children }: ErrorNoteProps) {
  return (
    <div className={css.error} role="alert" data-item-id={itemId} data-status="error">
      <TriangleAlert size={16} aria-hidden="true" />
      <div className={css.words}>
        {title !== undefined && <strong>{title}</strong>}
        <p>{message || 'No reason was given.'}</p>
        {code !== undefined && <code>{code}</code>}
        {children && <div className={css.actions}>{children}</div>}
      </div>
    </div>
  );
}
