import { createContext, useContext } from 'react';

/** What can be done from inside a conversation. */
export interface SessionActions {
  /** Answers a permission request; rejects when the server refuses. */
  answer: (approvalId: string, optionId: string) => Promise<void>;
  send: (message: string) => void;
}

const SessionActionsContext = createContext<SessionActions | undefined>(undefined);

export const SessionActionsProvider = SessionActionsContext.Provider;

export function useSessionActions(): SessionActions {
  const actions = useContext(SessionActionsContext);
  if (actions === undefined) throw new Error('A conversation needs a SessionActionsProvider.');
  return actions;
}
