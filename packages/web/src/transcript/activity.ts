import { createContext, useContext } from 'react';

/** What the agent waits for while its turn is silent. */
const ActivityContext = createContext<string | undefined>(undefined);

export const ActivityProvider = ActivityContext.Provider;

export const useActivity = (): string | undefined => useContext(ActivityContext);
