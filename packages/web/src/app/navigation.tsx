import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { goToAddress, listenToAddress } from './history.ts';
import {
  closeOthers,
  closeTab,
  keepTab,
  restoredTabs,
  showStartPage,
  moveTab,
  openTab,
  type TabState,
  tabStateAt,
  previewTab,
  readTabs,
  toAddress,
} from './tab-state.ts';

export interface Navigation extends TabState {
  /** Shows a session in a tab that stays open when another session is previewed. */
  open: (sessionId: string) => void;
  /** Previews a session. If `itemId` is given, scrolls to that item and highlights the words of `query` in it. */
  show: (sessionId: string, itemId?: string, query?: string) => void;
  /** Keeps the session's tab open when another session is previewed. */
  keep: (sessionId: string) => void;
  close: (sessionId: string) => void;
  closeOthers: (sessionId: string) => void;
  move: (sessionId: string, target: string) => void;
  goHome: () => void;
}

/** The stored value contains only session ids, so the browser's storage contains nothing secret. */
const storageKey = 'liminal.tabs';

const NavigationContext = createContext<Navigation | undefined>(undefined);

/** Keeps the open tabs in the browser's storage and the active one in the address. */
export function NavigationProvider({ children }: { children: ReactNode }) {
  const [places, setPlaces] = useState(initialTabState);

  useEffect(() => {
    localStorage.setItem(storageKey, JSON.stringify(restoredTabs(places)));
  }, [places]);

  useEffect(() => goToAddress(toAddress(places)), [places]);

  useEffect(() => listenToAddress(() => setPlaces((now) => tabStateAt(now, location))), []);

  const navigation = useMemo<Navigation>(
    () => ({
      ...places,
      open: (sessionId) => setPlaces((now) => openTab(now, sessionId)),
      show: (sessionId, itemId, query) =>
        setPlaces((now) =>
          previewTab(now, sessionId, itemId === undefined ? undefined : { id: itemId, query }),
        ),
      keep: (sessionId) => setPlaces((now) => keepTab(now, sessionId)),
      close: (sessionId) => setPlaces((now) => closeTab(now, sessionId)),
      closeOthers: (sessionId) => setPlaces((now) => closeOthers(now, sessionId)),
      move: (sessionId, target) => setPlaces((now) => moveTab(now, sessionId, target)),
      goHome: () => setPlaces(showStartPage),
    }),
    [places],
  );
  return <NavigationContext value={navigation}>{children}</NavigationContext>;
}

export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext);
  if (navigation === undefined)
    throw new Error('useNavigation needs a NavigationProvider above it.');
  return navigation;
}

function initialTabState(): TabState {
  return tabStateAt({ tabs: readTabs(localStorage.getItem(storageKey)) }, location);
}
