import type { SessionNotice } from '@liminal/protocol';
import { Info, TriangleAlert, X } from 'lucide-react';
import { focusComposer } from '../composer/focus-composer.ts';
import { IconButton } from '../look/controls.tsx';
import { LinkedText } from '../look/LinkedText.tsx';
import css from './SessionNotices.module.css';
import { useMemo, useState } from 'react';
import { readTexts } from '../storage/read-texts.ts';

interface SessionNoticesProps {
  sessionId: string;
  cliType: string | undefined;
  notices: readonly SessionNotice[] | undefined;
}

/** Shows notices about the session beside the conversation, until a person dismisses them. */
export function SessionNotices({ sessionId, cliType, notices = [] }: SessionNoticesProps) {
  const [inSession, dismissInSession] = useDismissed(sessionId);
  const [ofAgent, dismissOfAgent] = useDismissed(`agent:${cliType ?? ''}`);
  const shown = notices.filter(
    ({ text, about }) =>
      !inSession.includes(text) && !(about === 'agent' && ofAgent.includes(text)),
  );
  if (shown.length === 0) return null;
  return (
    <ul className={css.notices} aria-label="Notices">
      {shown.map(({ level, text, about }) => (
        <li key={text} className={css.notice} data-level={level}>
          <NoticeMark level={level} />
          <LinkedText className={css.text} text={text} />
          <IconButton
            className={css.close}
            label="Dismiss"
            onClick={(event) => {
              (about === 'agent' ? dismissOfAgent : dismissInSession)(text);
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

/**
 * Moves the focus from the removed button to the composer. On a phone, that would open the keyboard, so the focus does
 * not move.
 */
function moveOn(event: MouseEvent): void {
  const isTouch = event instanceof PointerEvent && event.pointerType === 'touch';
  if (!isTouch) focusComposer();
}

function NoticeMark({ level }: Pick<SessionNotice, 'level'>) {
  const Icon = level === 'warning' ? TriangleAlert : Info;
  return (
    <span className={css.mark} role="img" aria-label={level === 'warning' ? 'Warning' : 'Note'}>
      <Icon size={14} aria-hidden="true" />
    </span>
  );
}

/** The number of dismissed notices that are remembered for each session or agent. The newest are kept. */
const most = 50;

/**
 * Returns the notices of a session or an agent that were dismissed on this device, and a function that dismisses a
 * notice.
 */
function useDismissed(of: string): [readonly string[], (text: string) => void] {
  const key = `liminal.dismissed.${of}`;
  const [kept, setKept] = useState<{ key: string; texts: readonly string[] }>();
  const stored = useMemo(() => readTexts(localStorage.getItem(key)), [key]);
  const dismissed = kept?.key === key ? kept.texts : stored;
  const dismiss = (text: string) => {
    // Read the list again, because another tab may have dismissed further notices.
    const texts = [...readTexts(localStorage.getItem(key)), text].slice(-most);
    setKept({ key, texts });
    localStorage.setItem(key, JSON.stringify(texts));
  };
  return [dismissed, dismiss];
}
