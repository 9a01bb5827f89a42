import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Advice } from '../look/Advice.tsx';
import { LinkedText } from '../look/LinkedText.tsx';
import css from './Notes.module.css';

interface ErrorNoteProps {
  title?: string;
  code?: string | undefined;
  message?: string | undefined;
  itemId?: string;
  /** Whether the error has just happened. Only a new error is announced. */
  isNew?: boolean;
  /** Whether the conversation has continued after the error. The error then has only one line. */
  isOld?: boolean;
  Icon?: typeof TriangleAlert;
  /** Advice that the message itself does not contain. */
  advice?: string | undefined;
  /** Buttons below the message. */
  children?: ReactNode;
}

/** Shows an error in plain words, with its code. */
export function ErrorNote(props: ErrorNoteProps) {
  const { title, code, message, itemId, Icon = TriangleAlert, advice, children } = props;
  const { isNew = true, isOld = false } = props;
  return (
    <div
      className={css.error}
      role={isNew ? 'alert' : 'group'}
      aria-label={isNew ? undefined : (title ?? 'Error')}
      data-item-id={itemId}
      data-status="error"
      data-old={isOld}
    >
      <Icon size={16} aria-hidden="true" />
      <div className={css.words}>
        {title !== undefined && <strong>{title}</strong>}
        <LinkedText text={message || 'No reason was given.'} />
        {advice !== undefined && <Advice text={advice} />}
        {code !== undefined && <code>{code}</code>}
        {children && <div className={css.actions}>{children}</div>}
      </div>
    </div>
  );
}
