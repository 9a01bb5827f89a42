import { createContext, useContext } from 'react';

/** The time of what is shown, ms since the epoch, where that is not now. */
const ClockContext = createContext<number | undefined>(undefined);

export const ClockProvider = ClockContext.Provider;

export const useClock = (): number | undefined => useContext(ClockContext);
