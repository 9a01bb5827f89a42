import { createContext, useContext } from 'react';

/** A layer in front of the page; at most one is open. */
export type Overlay = 'new-session' | 'palette' | 'keys' | 'sidebar' | 'agent-sessions';

export const OverlayContext = createContext<(overlay: Overlay) => void>(() => undefined);

/** Returns a function that opens a layer in front of the page. */
export const useOverlay = (): ((overlay: Overlay) => void) => useContext(OverlayContext);
