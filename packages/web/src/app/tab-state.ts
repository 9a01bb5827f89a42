import { readTexts } from '../storage/read-texts.ts';

/** The sessions that are open as tabs, and the session that is shown. */
export interface TabState {
  /** The ids of the open sessions, in the order of their tabs. */
  readonly tabs: readonly string[];
  /** The session in the preview tab. The next previewed session replaces this session. */
  readonly preview?: string | undefined;
  /** The session that is shown; undefined on the start page. */
  readonly active?: string | undefined;
  /** The item of the active session that the page scrolls to. A new object makes the page scroll to the item again. */
  readonly target?: ItemTarget | undefined;
}

/** An item of a conversation by its id, a tool call by the id of the call, or a turn by its id. */
export interface ItemTarget {
  readonly id: string;
  /** The search query that found the item. The query's words are highlighted. */
  readonly query?: string | undefined;
}

/** Shows a session in a tab that stays open when another session is previewed. */
export function openTab(places: TabState, sessionId: string): TabState {
  return keepTab(previewTab(places, sessionId), sessionId);
}

/** Shows a session: in its own tab if it has one, otherwise in the preview tab. */
export function previewTab(places: TabState, sessionId: string, target?: ItemTarget): TabState {
  const { tabs, preview } = places;
  const shown = { active: sessionId, ...(target !== undefined && { target }) };
  const kept = preview === undefined ? {} : { preview };
  if (tabs.includes(sessionId)) return { tabs, ...kept, ...shown };
  const index = preview === undefined ? -1 : tabs.indexOf(preview);
  const next = index < 0 ? [...tabs, sessionId] : tabs.with(index, sessionId);
  return { tabs: next, preview: sessionId, ...shown };
}

/** Keeps a session's tab open when another session is previewed. */
export function keepTab(places: TabState, sessionId: string): TabState {
  if (places.preview !== sessionId) return places;
  const { preview: _, ...rest } = places;
  return rest;
}

/**
 * Closes a tab. If the tab was active, the tab on its right becomes active; if there is none on the right, the tab on
 * its left.
 */
export function closeTab(places: TabState, sessionId: string): TabState {
  const index = places.tabs.indexOf(sessionId);
  if (index < 0) return places;
  const tabs = places.tabs.toSpliced(index, 1);
  const rest = keepTab(places, sessionId);
  if (places.active !== sessionId) return { ...rest, tabs };
  return { ...withoutTarget(rest), tabs, active: tabs[index] ?? tabs.at(-1) };
}

/** Closes all tabs except the session's tab, and shows that tab. */
export function closeOthers(places: TabState, sessionId: string): TabState {
  return places.tabs.includes(sessionId) ? { tabs: [sessionId], active: sessionId } : places;
}

/** Moves a session's tab to the place of the tab `target`, and keeps the moved tab open. */
export function moveTab(places: TabState, sessionId: string, target: string): TabState {
  const from = places.tabs.indexOf(sessionId);
  const to = places.tabs.indexOf(target);
  if (from < 0 || to < 0 || from === to) return places;
  const tabs = places.tabs.toSpliced(from, 1).toSpliced(to, 0, sessionId);
  return { ...keepTab(places, sessionId), tabs };
}

/** Shows the start page. */
export function showStartPage(places: TabState): TabState {
  const { active: _, ...rest } = withoutTarget(places);
  return rest;
}

/** Returns the tabs that a reload restores. */
export function restoredTabs({ tabs, preview }: TabState): readonly string[] {
  return preview === undefined ? tabs : tabs.filter((tab) => tab !== preview);
}

function withoutTarget(places: TabState): TabState {
  const { target: _, ...rest } = places;
  return rest;
}

/** The prefix of the part of an address that contains an item's id. */
const itemPrefix = '#item-';

/** Returns the address of a session, of an item in a session, or of the start page. */
export function toAddress({ active, target }: Pick<TabState, 'active' | 'target'>): string {
  if (active === undefined) return '/';
  const item = target === undefined ? '' : `${itemPrefix}${encodeURIComponent(target.id)}`;
  return `/session/${encodeURIComponent(active)}${item}`;
}

/** Returns the tabs after the browser has gone to an address. */
export function tabStateAt(places: TabState, { pathname, hash }: Address): TabState {
  const sessionId = decode(/^\/session\/([^/]+)\/?$/.exec(pathname)?.[1]);
  if (sessionId === undefined) return showStartPage(places);
  const id = hash.startsWith(itemPrefix) ? decode(hash.slice(itemPrefix.length)) : undefined;
  return previewTab(places, sessionId, id === undefined ? undefined : { id });
}

/** Returns the id of the session that a replay page plays; undefined for any other page. */
export function replayedSession({ pathname }: Pick<Location, 'pathname'>): string | undefined {
  return decode(/^\/replay\/([^/]+)\/?$/.exec(pathname)?.[1]);
}

type Address = Pick<Location, 'pathname' | 'hash'>;

function decode(encoded: string | undefined): string | undefined {
  if (encoded === undefined || encoded === '') return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** Reads stored tabs. Returns no tabs for any other value. */
export function readTabs(stored: string | null): string[] {
  return [...new Set(readTexts(stored))].filter((id) => id !== '');
}
