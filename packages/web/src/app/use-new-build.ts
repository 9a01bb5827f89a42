import { useConnection } from '@liminal/client/react';
import { useEffect, useState } from 'react';
import { fetchMissingParts } from '../look/lazy-component.tsx';

/**
 * Finds the page's first script. The script's name contains a hash of the script and of the names of all other files,
 * so the name differs in each build.
 */
const firstScript = /<script type="module" crossorigin src="([^"<]+)"/;

/**
 * Whether the server had another build of the page when the page last connected. The server may then no longer have
 * files of this page's build that the page has not fetched yet.
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
