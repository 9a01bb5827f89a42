import { useSyncExternalStore } from 'react';

interface MediaStore {
  subscribe: (onChange: () => void) => () => void;
  matches: () => boolean;
}

/** One store for each query, because React subscribes again whenever it receives a new subscribe function. */
const stores = new Map<string, MediaStore>();

export function useMediaQuery(query: string): boolean {
  const { subscribe, matches } = stores.get(query) ?? storeOf(query);
  return useSyncExternalStore(subscribe, matches);
}

function storeOf(query: string): MediaStore {
  const media = matchMedia(query);
  const store: MediaStore = {
    subscribe: (onChange) => {
      media.addEventListener('change', onChange);
      return () => media.removeEventListener('change', onChange);
    },
    matches: () => media.matches,
  };
  stores.set(query, store);
  return store;
}
