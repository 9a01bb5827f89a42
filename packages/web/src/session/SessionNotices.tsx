import type { SessionNotice } from '@liminal/protocol';
import { Info, TriangleAlert, X } from 'lucide-react';
import { focusComposer } from '../composer/focus-composer.ts';
import { IconButton } from '../look/controls.tsx';
import { LinkedText } from '../look/LinkedText.tsx';
import css from './SessionNotices.module.css';
import { useState } from 'react';
import { readTexts } from '../kept/read-texts.ts';

interface SessionNoticesProps {
  sessionId: string;
  notices: readonly SessionNotice[] | undefined;
}

/** Notices about the session beside its conversation, until they are dismissed. */
export function SessionNotices({ sessionId, notices = [] }: SessionNoticesProps) {
  const [dismissed, dismiss] = useDismissed(sessionId);
  const shown = notices.filter(({ text }) => !dismissed.includes(text));
  if (shown.length === 0) return null;
  return (
    <ul className={css.notices} aria-label="Notices">
      {shown.map(({ level, text }) => (
        <li key={text} className={css.notice} data-level={level}>
          <Mark level={level} />
          <LinkedText className={css.text} text={text} />
          <IconButton
            className={css.close}
            label="Dismiss"
            onClick={(event) => {
              dismiss(text);
              moveOn(event.nativeEvent);
            }}
          >
            <X size={13} />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

/** Moves the focus from the removed button; on a phone, the composer would open the keyboard. */
function moveOn(event: MouseEvent): void {
  const isTouch = event instanceof PointerEvent && event.pointerType === 'touch';
  if (!isTouch) focusComposer();
}

function Mark({ level }: Pick<SessionNotice, 'level'>) {
  const Icon = level === 'warning' ? TriangleAlert : Info;
  return (
    <span className={css.mark} role="img" aria-label={level === 'warning' ? 'Warning' : 'Note'}>
      <Icon size={14} aria-hidden="true" />
    </span>
  );
}

/** Number of dismissed notices remembered per session; the newest are kept. */
const most = 50;

/** The session's notices that were dismissed on this device, and a function that dismisses one. */
function useDismissed(sessionId: string): [readonly string[], (text: string) => void] {
  const key = `liminal.dismissed.${sessionId}`;
  const [dismissed, setDismissed] = useState(() => readTexts(localStorage.getItem(key)));
  const dismiss = (text: string) => {
    const texts = [...dismissed, text].slice(-most);
    setDismissed(texts);
    localStorage.setItem(key, JSON.stringify(texts));
  };
  return [dismissed, dismiss];
}
