import { createContext, useContext } from 'react';

/** The moment of a recording that is shown (ms since the epoch); undefined on a live page. */
const ClockContext = createContext<number | undefined>(undefined);

export const ClockProvider = ClockContext.Provider;

export const useClock = (): number | undefined => useContext(ClockContext);
