import { useState } from 'react';

/** So many pages stay as they are while another tab is looked at; older ones are made again. */
const most = 6;

/** The tabs whose pages are kept, the active one included: those looked at last. */
export function useKeptTabs(
  tabs: readonly string[],
  active: string | undefined,
): readonly string[] {
  const [kept, setKept] = useState<readonly string[]>([]);
  const next = keepTabs(kept, tabs, active);
  if (next !== kept) setKept(next);
  return next;
}

/** Keeps the order, so that no page is moved about. */
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
