import { useState } from 'react';

/** The number of pages that stay mounted. Other pages are rendered again when they are shown. */
const maxMounted = 6;

/** Returns the tabs whose pages stay mounted: the tabs that were shown last, including the active tab. */
export function useMountedTabs(
  tabs: readonly string[],
  active: string | undefined,
): readonly string[] {
  const [mounted, setMounted] = useState<readonly string[]>([]);
  const next = nextMountedTabs(mounted, tabs, active);
  if (next !== mounted) setMounted(next);
  return next;
}

/** Returns the tabs that stay mounted, in their present order, so that no page moves in the document. */
export function nextMountedTabs(
  mounted: readonly string[],
  tabs: readonly string[],
  active: string | undefined,
): readonly string[] {
  const open = mounted.filter((sessionId) => tabs.includes(sessionId));
  const isNew = active !== undefined && !open.includes(active);
  if (!isNew) return open.length === mounted.length ? mounted : open;
  return [...open, active].slice(-maxMounted);
}
