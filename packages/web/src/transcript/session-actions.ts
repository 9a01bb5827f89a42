import type { ApprovalAnswer, ContentBlock, RewindScope } from '@liminal/protocol';
import { createContext, useContext } from 'react';

/** The session of a conversation, and the actions inside it. */
export interface SessionActions {
  cliType: string | undefined;
  /** Answers a permission request; rejects when the server refuses. */
  answer: (approvalId: string, answer: ApprovalAnswer) => Promise<void>;
  /** Shows a waiting request to the person. */
  show: (approvalId: string) => void;
  send: (message: string, blocks?: readonly ContentBlock[]) => void;
  /** Begins a new session that goes on from the end of a turn, and shows it, or why there is none. */
  fork: (turnId: string) => Promise<void>;
  /** Shows what would go back to before a turn, and asks whether it is to. */
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
