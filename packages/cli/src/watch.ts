import type { LiminalClient, SessionView } from '@liminal/client';
import { errors, reported } from './errors.ts';

/**
 * Calls `isDone` with a session's view, now and after each change, until `isDone` returns true or `signal` is aborted.
 * Rejects if the session cannot be opened or is deleted, or if the server rejects the token.
 */
export async function watch(
  client: LiminalClient,
  sessionId: string,
  isDone: (view: SessionView) => boolean,
  signal?: AbortSignal,
): Promise<void> {
  const store = client.session(sessionId);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const check = () => {
    const view = store.getSnapshot();
    if (view.phase === 'failed') {
      reject(reported(view.problem));
    } else if (view.phase === 'deleted') {
      reject(errors.SESSION_NOT_FOUND.deleted(sessionId));
    } else if (view.phase === 'ready' && isDone(view)) resolve();
  };
  const undo = [
    store.subscribe(check),
    client.connection.subscribe(() => rejectIfRefused(client, reject)),
  ];
  signal?.addEventListener('abort', () => resolve());
  check();
  try {
    await promise;
  } finally {
    for (const each of undo) each();
  }
}

function rejectIfRefused(client: LiminalClient, reject: (error: Error) => void): void {
  if (client.connection.getSnapshot().state !== 'refused') return;
  reject(errors.UNAUTHORIZED.badToken());
}
