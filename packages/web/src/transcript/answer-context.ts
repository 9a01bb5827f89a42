import { createContext, useContext } from 'react';

/** Answers a permission request; rejects when the server refuses. */
export type Answer = (approvalId: string, optionId: string) => Promise<void>;

export const AnswerContext = createContext<Answer>(() => Promise.resolve());

export function useAnswer(): Answer {
  return useContext(AnswerContext);
}
