import type { SessionSummary } from '@liminal/protocol';
import { createContext, type ReactNode, useContext, useState } from 'react';
import { lazyComponent } from '../look/lazy-component.tsx';
import type { Anchor } from './RowMenu.tsx';

type OpenRowMenu = (session: SessionSummary, anchor: Anchor) => void;

const RowMenuContext = createContext<OpenRowMenu>(() => {});

// The code of the menu is fetched when a menu is first opened, together with the menu library.
const RowMenu = lazyComponent(() => import('./RowMenu.tsx'));

/** Provides one menu for all rows of a list. */
export function RowMenuProvider({ children }: { children: ReactNode }) {
  const [opened, setOpened] = useState<{ session: SessionSummary; anchor: Anchor }>();
  const [open] = useState<OpenRowMenu>(
    () => (session: SessionSummary, anchor: Anchor) => setOpened({ session, anchor }),
  );
  return (
    <RowMenuContext value={open}>
      {children}
      {opened !== undefined && <RowMenu {...opened} onClose={() => setOpened(undefined)} />}
    </RowMenuContext>
  );
}

export function useRowMenu(): OpenRowMenu {
  return useContext(RowMenuContext);
}
