import { useState } from 'react';

/** Number of pages that stay mounted; older pages are rendered again when shown. */
const most = 6;

/** The tabs whose pages stay mounted: those shown last, including the active one. */
export function useKeptTabs(
  tabs: readonly string[],
  active: string | undefined,
): readonly string[] {
  const [kept, setKept] = useState<readonly string[]>([]);
  const next = keepTabs(kept, tabs, active);
  if (next !== kept) setKept(next);
  return next;
}

/** Keeps the order of the tabs, so that no page is moved in the document. */
export function keepTabs(
  kept: readonly string[],
  tabs: readonly string[],
  active: string | undefined,
): readonly string[] {
  const open = kept.filter((sessionId) => tabs.includes(sessionId));
  const isNew = active !== undefined && !open.includes(active);
  if (!isNew) return open.length === kept.length ? kept : open;
  return [...open, active].slice(-most);
}
