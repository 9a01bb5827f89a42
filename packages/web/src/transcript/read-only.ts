import { createContext, useContext } from 'react';

/** Whether the session can only be looked at: nothing is said, forked or changed back. */
const ReadOnlyContext = createContext(false);

export const ReadOnlyProvider = ReadOnlyContext.Provider;

export function useReadOnly(): boolean {
  return useContext(ReadOnlyContext);
}
