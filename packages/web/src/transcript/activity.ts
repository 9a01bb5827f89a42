import { createContext, useContext } from 'react';

/** What the agent is waiting for while its turn has no output; undefined if this is not known. */
const ActivityContext = createContext<string | undefined>(undefined);

export const ActivityProvider = ActivityContext.Provider;

export const useActivity = (): string | undefined => useContext(ActivityContext);
