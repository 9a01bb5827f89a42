import { useCallback, useEffect, useState } from 'react';
import { useMediaQuery } from '../look/use-media-query.ts';

const storageKey = 'liminal.sidebar';

/** Whether the sidebar is shown beside the page. The choice is stored on this device. */
export function useSidebar(): [isShown: boolean, toggle: () => void] {
  const [isShown, setShown] = useState(() => localStorage.getItem(storageKey) !== 'hidden');
  useEffect(() => localStorage.setItem(storageKey, isShown ? 'shown' : 'hidden'), [isShown]);
  const toggle = useCallback(() => setShown((shown) => !shown), []);
  return [isShown, toggle];
}

/** The widest window that counts as narrow. The styles contain the same width. */
const narrow = '(max-width: 720px)';

/** Whether the page is as narrow as on a phone. In a narrow page, the sidebar is a drawer. */
export function useIsNarrow(): boolean {
  return useMediaQuery(narrow);
}
