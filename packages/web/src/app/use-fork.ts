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
  /** The ids of forks that were asked for and not answered: who presses again means the same one. */
  const unanswered = useRef(new Map<string, string>());
  return useCallback(
    async (sessionId, turnId) => {
      const place = `${sessionId} ${turnId ?? ''}`;
      const id = unanswered.current.get(place) ?? newId();
      unanswered.current.set(place, id);
      const forget = () => unanswered.current.delete(place);
      const fork = await requests.fork(sessionId, { turnId, sessionId: id }).catch((error) => {
        if (!isForLater(error)) forget();
        throw error;
      });
      forget();
      latest.current(fork.sessionId);
    },
    [requests],
  );
}
