import type { SessionStore, SessionView } from '@liminal/client';
import { useCallback, useRef } from 'react';

/**
 * Lets the session's agent start, since somebody begins to write. Opening a page again with a draft in it starts no
 * program.
 */
export function usePrewarm(session: SessionStore, info: SessionView['info']): () => void {
  const isAsked = useRef(false);
  const isAlive = info?.session.isAlive ?? false;
  return useCallback(() => {
    if (isAlive || isAsked.current) return;
    isAsked.current = true;
    session.prewarm();
  }, [session, isAlive]);
}
