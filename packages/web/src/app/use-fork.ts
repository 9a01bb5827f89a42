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
  return useCallback(
    async (sessionId, turnId) => {
      const fork = await requests.fork(sessionId, { turnId });
      latest.current(fork.sessionId);
    },
    [requests],
  );
}
