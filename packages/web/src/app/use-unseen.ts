import type { Projects } from '@liminal/client';
import { useEffect, useSyncExternalStore } from 'react';
import { updateSeen, type SeenState } from './unseen.ts';

const storageKey = 'liminal.unseen';
const listeners = new Set<() => void>();
let last: SeenState | undefined;

const seenState = (): SeenState => (last ??= readStored());

function readStored(): SeenState {
  const ids = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter((id): id is string => typeof id === 'string') : [];
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Record<string, unknown>;
    return { busy: ids(stored['busy']), unseen: ids(stored['unseen']) };
  } catch {
    return { busy: [], unseen: [] };
  }
}

function save(next: SeenState, isStored = true): void {
  const text = JSON.stringify(next);
  if (text === JSON.stringify(seenState())) return;
  last = next;
  if (isStored) localStorage.setItem(storageKey, text);
  for (const listener of listeners) listener();
}

/** A session that was shown in another window of this browser also counts as seen in this window. */
function onStorage({ key }: StorageEvent): void {
  if (key === storageKey) save(readStored(), false);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Records which sessions finished their work while they were not shown. `isKnown` tells whether the list of sessions is
 * loaded.
 */
export function useUnseenSessions(
  projects: Projects,
  isKnown: boolean,
  active: string | undefined,
): void {
  useEffect(() => {
    if (!isKnown) return undefined;
    const look = () => {
      const inSight = document.visibilityState === 'visible' ? active : undefined;
      save(
        updateSeen(
          seenState(),
          projects.flatMap(({ sessions }) => sessions),
          inSight,
        ),
      );
    };
    look();
    document.addEventListener('visibilitychange', look);
    window.addEventListener('storage', onStorage);
    return () => {
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('storage', onStorage);
    };
  }, [active, isKnown, projects]);
}

/** Whether a session finished its work while it was not shown, and has not been opened since. */
export function useIsUnseen(sessionId: string): boolean {
  return useSyncExternalStore(subscribe, () => seenState().unseen.includes(sessionId));
}

/** Returns the number of unseen sessions. */
export function useUnseenCount(): number {
  return useSyncExternalStore(subscribe, () => seenState().unseen.length);
}
