import type { SessionStore, SessionView } from '@liminal/client';
import { useCallback, useRef } from 'react';

/**
 * A `setDraft` for typing, which also lets the session's agent start. Opening a page again with a draft in it starts no
 * program.
 */
export function usePrewarm(
  session: SessionStore,
  info: SessionView['info'],
  setDraft: (text: string) => void,
): (text: string) => void {
  const isAsked = useRef(false);
  const isAlive = info?.session.isAlive ?? false;
  return useCallback(
    (text: string) => {
      setDraft(text);
      if (text === '' || isAlive || isAsked.current) return;
      isAsked.current = true;
      session.prewarm();
    },
    [session, isAlive, setDraft],
  );
}
