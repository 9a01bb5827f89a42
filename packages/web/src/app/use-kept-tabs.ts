import { useState } from 'react';

/** Number of pages that stay mounted while another tab is shown; older ones are rendered again. */
const most = 6;

/** The tabs whose pages stay mounted, including the active one: the latest ones shown. */
export function useKeptTabs(
  tabs: readonly string[],
  active: string | undefined,
): readonly string[] {
  const [kept, setKept] = useState<readonly string[]>([]);
  const next = keepTabs(kept, tabs, active);
  if (next !== kept) setKept(next);
  return next;
}

/** Keeps the order, so that no page is moved. */
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
