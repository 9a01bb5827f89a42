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
  /** Whether it has just happened: an old error in a conversation is no alarm. */
  isNews?: boolean;
  /** Whether the conversation has gone on since: it is shown as a line. */
  isOld?: boolean;
  Icon?: typeof TriangleAlert;
  /** Further advice, beyond the message. */
  advice?: string | undefined;
  /** Actions. */
  children?: ReactNode;
}

/** An error in plain words, with its code. */
export function ErrorNote(props: ErrorNoteProps) {
  const { title, code, message, itemId, Icon = TriangleAlert, advice, children } = props;
  const { isNews = true, isOld = false } = props;
  return (
    <div
      className={css.error}
      role={isNews ? 'alert' : 'group'}
      aria-label={isNews ? undefined : (title ?? 'Error')}
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
