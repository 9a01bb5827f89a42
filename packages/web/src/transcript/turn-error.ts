import { createContext, useContext } from 'react';

/** The code of the error with which the turn of a row ended. */
const TurnErrorContext = createContext<string | undefined>(undefined);

export const TurnErrorProvider = TurnErrorContext.Provider;

export const useTurnError = (): string | undefined => useContext(TurnErrorContext);

/** Why something did not happen in a turn that was interrupted. */
export const serverRestarted = 'the server was restarted';
