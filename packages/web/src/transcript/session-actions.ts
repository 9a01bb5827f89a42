import type { ApprovalAnswer, ContentBlock, RewindScope } from '@liminal/protocol';
import { createContext, useContext } from 'react';

/** The session of a conversation, and the actions that its content offers. */
export interface SessionActions {
  cliType: string | undefined;
  /** Answers a permission request; rejects if the server refuses. */
  answer: (approvalId: string, answer: ApprovalAnswer) => Promise<void>;
  /** Shows a waiting request above the composer. */
  show: (approvalId: string) => void;
  send: (message: string, blocks?: readonly ContentBlock[]) => void;
  /** Forks the session after a turn. Shows the fork, or the error. */
  fork: (turnId: string) => Promise<void>;
  /** Shows what rewinding to the state before a turn would change, and asks for confirmation. */
  askRewind: (turnId: string, scope: RewindScope) => void;
  /** Puts a message back into the composer. */
  takeBack: (message: string, blocks?: readonly ContentBlock[]) => void;
}

const SessionActionsContext = createContext<SessionActions | undefined>(undefined);

export const SessionActionsProvider = SessionActionsContext.Provider;

export function useSessionActions(): SessionActions {
  const actions = useContext(SessionActionsContext);
  if (actions === undefined) throw new Error('A conversation needs a SessionActionsProvider.');
  return actions;
}
