/** The React bindings of the client. */
import { createContext, useContext, useSyncExternalStore } from 'react';
import type {
  ConnectionStatus,
  LiminalClient,
  SessionStore,
  SessionsView,
  SessionView,
  Store,
} from '../index.ts';

const ClientContext = createContext<LiminalClient | undefined>(undefined);

/** Provides the client to the components below it. */
export const ClientProvider = ClientContext.Provider;

export function useClient(): LiminalClient {
  const client = useContext(ClientContext);
  if (client === undefined) throw new Error('useClient must be called below a ClientProvider.');
  return client;
}

export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.getSnapshot);
}

/**
 * Returns a session's live view, and its store for actions. The subscription to the session lasts until
 * `client.release`.
 */
export function useSession(sessionId: string): { view: SessionView; session: SessionStore } {
  const session = useClient().session(sessionId);
  return { view: useStore(session), session };
}

export function useSessions(): SessionsView {
  return useStore(useClient().sessions);
}

export function useConnection(): ConnectionStatus {
  return useStore(useClient().connection);
}
