import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { closeTab, fromPath, moveTab, openTab, type Places, readTabs, toPath } from './places.ts';

export interface Navigation extends Places {
  open: (sessionId: string) => void;
  close: (sessionId: string) => void;
  move: (sessionId: string, target: string) => void;
  goHome: () => void;
}

/** Session ids only: nothing in a browser's storage that is worth stealing. */
const storageKey = 'liminal.tabs';

const NavigationContext = createContext<Navigation | undefined>(undefined);

/** Keeps the open tabs in the browser's storage and the active one in the address. */
export function NavigationProvider({ children }: { children: ReactNode }) {
  const [places, setPlaces] = useState(startPlaces);

  useEffect(() => {
    localStorage.setItem(storageKey, JSON.stringify(places.tabs));
  }, [places.tabs]);

  useEffect(() => {
    const path = toPath(places.active);
    if (location.pathname !== path) history.pushState(null, '', path);
  }, [places.active]);

  useEffect(() => {
    const onBack = () => setPlaces((now) => placesAt(now, fromPath(location.pathname)));
    window.addEventListener('popstate', onBack);
    return () => window.removeEventListener('popstate', onBack);
  }, []);

  const navigation = useMemo<Navigation>(
    () => ({
      ...places,
      open: (sessionId) => setPlaces((now) => openTab(now, sessionId)),
      close: (sessionId) => setPlaces((now) => closeTab(now, sessionId)),
      move: (sessionId, target) => setPlaces((now) => moveTab(now, sessionId, target)),
      goHome: () => setPlaces(({ tabs }) => ({ tabs })),
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

function startPlaces(): Places {
  const tabs = readTabs(localStorage.getItem(storageKey));
  return placesAt({ tabs }, fromPath(location.pathname));
}

function placesAt(places: Places, sessionId: string | undefined): Places {
  return sessionId === undefined ? { tabs: places.tabs } : openTab(places, sessionId);
}
