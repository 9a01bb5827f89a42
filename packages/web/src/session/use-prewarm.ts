import type { SessionStore, SessionView } from '@liminal/client';
import { useCallback, useRef } from 'react';

/**
 * Returns a function that starts the session's agent when a person begins to write. Merely opening a page that has a
 * draft does not start the agent.
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
