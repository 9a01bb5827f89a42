import { createContext, useContext } from 'react';

/** The thing that the agent waits for while its turn has no output. */
const ActivityContext = createContext<string | undefined>(undefined);

export const ActivityProvider = ActivityContext.Provider;

export const useActivity = (): string | undefined => useContext(ActivityContext);
