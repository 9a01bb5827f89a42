import { useCallback, useEffect, useState } from 'react';

const storageKey = 'liminal.sidebar';

/** Whether the sidebar stands beside the page, as it was left the last time. */
export function useSidebar(): [isShown: boolean, toggle: () => void] {
  const [isShown, setShown] = useState(() => localStorage.getItem(storageKey) !== 'hidden');
  useEffect(() => localStorage.setItem(storageKey, isShown ? 'shown' : 'hidden'), [isShown]);
  const toggle = useCallback(() => setShown((shown) => !shown), []);
  return [isShown, toggle];
}

/** On a phone the sidebar is a drawer; the same width as in the styles. */
export function isNarrow(): boolean {
  return matchMedia('(max-width: 720px)').matches;
}
