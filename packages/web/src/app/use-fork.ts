import { isRetryable, newId } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import { useCallback, useLayoutEffect, useRef } from 'react';
import { useNavigation } from './navigation.tsx';

/**
 * Returns a function that forks a session after a turn (by default the last turn) and shows the fork. The function
 * rejects with the server's error.
 */
export function useFork(): (sessionId: string, turnId?: string) => Promise<void> {
  const { requests } = useClient();
  const { open } = useNavigation();
  // `open` changes with each navigation. Because the ref holds `open`, such a change does not render the conversation
  // again.
  const latest = useRef(open);
  useLayoutEffect(() => {
    latest.current = open;
  });
  /**
   * The ids of forks whose responses were lost, by turn id. If the person presses the button again, the request has the
   * same id, so the server makes only one fork. A fork without a turn id gets a new id each time, because the session's
   * last turn may have changed.
   */
  const unanswered = useRef(new Map<string, string>());
  return useCallback(
    async (sessionId, turnId) => {
      const id = unanswered.current.get(turnId ?? '') ?? newId();
      unanswered.current.delete(turnId ?? '');
      const fork = await requests.fork(sessionId, { turnId, sessionId: id }).catch((error) => {
        if (turnId !== undefined && isRetryable(error)) unanswered.current.set(turnId, id);
        throw error;
      });
      latest.current(fork.sessionId);
    },
    [requests],
  );
}
