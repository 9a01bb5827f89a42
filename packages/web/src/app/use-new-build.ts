import { useConnection } from '@liminal/client/react';
import { useEffect, useState } from 'react';
import { fetchMissingParts } from '../look/lazy-component.tsx';

/**
 * Finds the page's first script. The script's name contains a hash of the script and of the names of all other parts,
 * so it differs in each build.
 */
const firstScript = /<script type="module" crossorigin src="([^"<]+)"/;

/**
 * Whether the server had another build of the page at the last connect. If the server had another build, parts of
 * this page's build that were not fetched yet may be gone from the server.
 */
export function useNewBuild(): boolean {
  const { state } = useConnection();
  const [isNew, setNew] = useState(false);
  useEffect(() => {
    if (state !== 'open') return undefined;
    let isCurrent = true;
    void isOtherBuild().then((is) => isCurrent && setNew(is));
    void fetchMissingParts();
    return () => void (isCurrent = false);
  }, [state]);
  return isNew;
}

async function isOtherBuild(): Promise<boolean> {
  const own = document.querySelector('script[type="module"][src]')?.getAttribute('src');
  try {
    const response = await fetch('/', { cache: 'no-store', headers: { accept: 'text/html' } });
    const theirs = firstScript.exec(await response.text())?.[1];
    return response.ok && own !== null && theirs !== undefined && theirs !== own;
  } catch {
    return false;
  }
}
