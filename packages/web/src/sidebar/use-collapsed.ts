import { useCallback, useState } from 'react';

/** Project ids only. */
const storageKey = 'liminal.collapsed';

/** The projects that are collapsed on this device. */
export function useCollapsed(): [ReadonlySet<string>, toggle: (projectId: string) => void] {
  const [collapsed, setCollapsed] = useState(() => readCollapsed(localStorage.getItem(storageKey)));
  const toggle = useCallback((projectId: string) => {
    // Another window may have collapsed others meanwhile.
    const stored = readCollapsed(localStorage.getItem(storageKey));
    const next = stored.has(projectId)
      ? new Set([...stored].filter((id) => id !== projectId))
      : new Set([...stored, projectId]);
    localStorage.setItem(storageKey, JSON.stringify([...next]));
    setCollapsed(next);
  }, []);
  return [collapsed, toggle];
}

/** Reads the stored value; anything else collapses nothing. */
function readCollapsed(stored: string | null): ReadonlySet<string> {
  try {
    const value: unknown = JSON.parse(stored ?? '[]');
    if (!Array.isArray(value)) return new Set();
    return new Set(value.filter((id): id is string => typeof id === 'string'));
  } catch {
    return new Set();
  }
}
