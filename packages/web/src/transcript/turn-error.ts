import { createContext, useContext } from 'react';

/** The code of the error with which the turn that contains the row ended. */
const TurnErrorContext = createContext<string | undefined>(undefined);

export const TurnErrorProvider = TurnErrorContext.Provider;

export const useTurnError = (): string | undefined => useContext(TurnErrorContext);

/** The reason that is shown for calls that were not made because their turn was interrupted. */
export const serverRestarted = 'the server was restarted';
