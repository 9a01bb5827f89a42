import { isForLater, newId } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import { useCallback, useLayoutEffect, useRef } from 'react';
import { useNavigation } from './navigation.tsx';

/** Forks a session after a turn, by default its last one, and shows the fork. Rejects with why it was refused. */
export function useFork(): (sessionId: string, turnId?: string) => Promise<void> {
  const { requests } = useClient();
  const { open } = useNavigation();
  // It changes with each place, and a conversation need not be rendered again for that.
  const latest = useRef(open);
  useLayoutEffect(() => {
    latest.current = open;
  });
  /**
   * By turn, the ids of forks whose answers were lost: who presses there again means the same fork. The last turn of a
   * session may be another one by then, so that a fork without a turn is always a new one.
   */
  const unanswered = useRef(new Map<string, string>());
  return useCallback(
    async (sessionId, turnId) => {
      const id = unanswered.current.get(turnId ?? '') ?? newId();
      unanswered.current.delete(turnId ?? '');
      const fork = await requests.fork(sessionId, { turnId, sessionId: id }).catch((error) => {
        if (turnId !== undefined && isForLater(error)) unanswered.current.set(turnId, id);
        throw error;
      });
      latest.current(fork.sessionId);
    },
    [requests],
  );
}
