import { createContext, useContext } from 'react';

/** Whether the session is read-only. A read-only session has no buttons to send, fork or rewind. */
const ReadOnlyContext = createContext(false);

export const ReadOnlyProvider = ReadOnlyContext.Provider;

export function useReadOnly(): boolean {
  return useContext(ReadOnlyContext);
}
