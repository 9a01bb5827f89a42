import { createContext, useContext } from 'react';

/** The code of the error with which the turn of a row ended. */
const TurnErrorContext = createContext<string | undefined>(undefined);

export const TurnErrorProvider = TurnErrorContext.Provider;

export const useTurnError = (): string | undefined => useContext(TurnErrorContext);

/** The reason shown for things that did not happen in an interrupted turn. */
export const serverRestarted = 'the server was restarted';
