/** Which sessions are open as tabs, and which one is looked at. */
export interface Places {
  /** Session ids, in the order of the tabs. */
  readonly tabs: readonly string[];
  /** Absent on the start page. */
  readonly active?: string | undefined;
}

/** Shows a session, in a tab of its own. */
export function openTab({ tabs }: Places, sessionId: string): Places {
  return { tabs: tabs.includes(sessionId) ? tabs : [...tabs, sessionId], active: sessionId };
}

/** Closes a tab; where it was the active one its right neighbour takes over, else its left one. */
export function closeTab(places: Places, sessionId: string): Places {
  const index = places.tabs.indexOf(sessionId);
  if (index < 0) return places;
  const tabs = places.tabs.toSpliced(index, 1);
  if (places.active !== sessionId) return { ...places, tabs };
  return { tabs, active: tabs[index] ?? tabs.at(-1) };
}

/** Puts one tab in the place of another. */
export function moveTab(places: Places, sessionId: string, target: string): Places {
  const from = places.tabs.indexOf(sessionId);
  const to = places.tabs.indexOf(target);
  if (from < 0 || to < 0 || from === to) return places;
  return { ...places, tabs: places.tabs.toSpliced(from, 1).toSpliced(to, 0, sessionId) };
}

/** The address of a place in the app. */
export function toPath(active: string | undefined): string {
  return active === undefined ? '/' : `/session/${encodeURIComponent(active)}`;
}

/** The session that an address names. */
export function fromPath(path: string): string | undefined {
  const encoded = /^\/session\/([^/]+)\/?$/.exec(path)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** Tabs as they were stored; anything else is no tab. */
export function readTabs(stored: string | null): string[] {
  try {
    const value: unknown = JSON.parse(stored ?? '[]');
    if (!Array.isArray(value)) return [];
    const ids = value.filter((id): id is string => typeof id === 'string' && id !== '');
    return [...new Set(ids)];
  } catch {
    return [];
  }
}
