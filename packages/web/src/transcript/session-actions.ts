import type { ApprovalAnswer } from '@liminal/protocol';
import { createContext, useContext } from 'react';

/** Whose conversation it is, and what can be done from inside it. */
export interface SessionActions {
  cliType: string | undefined;
  /** Answers a permission request; rejects when the server refuses. */
  answer: (approvalId: string, answer: ApprovalAnswer) => Promise<void>;
  /** Brings a request that waits before the person's eyes. */
  show: (approvalId: string) => void;
  send: (message: string) => void;
  /** Gives a text back to where it was written. */
  takeBack: (message: string) => void;
}

const SessionActionsContext = createContext<SessionActions | undefined>(undefined);

export const SessionActionsProvider = SessionActionsContext.Provider;

export function useSessionActions(): SessionActions {
  const actions = useContext(SessionActionsContext);
  if (actions === undefined) throw new Error('A conversation needs a SessionActionsProvider.');
  return actions;
}
