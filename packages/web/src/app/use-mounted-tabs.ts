import { useState } from 'react';

/** Number of pages that stay mounted; older pages are rendered again when shown. */
const maxMounted = 6;

/** The tabs whose pages stay mounted: those shown last, including the active one. */
export function useMountedTabs(
  tabs: readonly string[],
  active: string | undefined,
): readonly string[] {
  const [mounted, setMounted] = useState<readonly string[]>([]);
  const next = nextMountedTabs(mounted, tabs, active);
  if (next !== mounted) setMounted(next);
  return next;
}

/** The tabs that stay mounted, in their present order, so that no page is moved in the document. */
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
