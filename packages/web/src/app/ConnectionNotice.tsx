import { useClient, useConnection } from '@liminal/client/react';
import { KeyRound, PlugZap, RefreshCw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from '../look/controls.tsx';
import css from './ConnectionNotice.module.css';
import { useNewBuild } from './use-new-build.ts';

/** Interruptions shorter than this (ms) are not reported. */
const noticeDelay = 1500;

/** Reports that the server cannot be reached: from 1.5 s after the connection was lost until it is restored. */
export function ConnectionNotice() {
  const { state } = useConnection();
  const client = useClient();
  const [late, setLate] = useState(false);
  const isAway = state !== 'open';
  const isNewBuild = useNewBuild();
  useEffect(() => {
    if (!isAway) return undefined;
    const timer = setTimeout(() => setLate(true), noticeDelay);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isAway]);

  if (state === 'refused') {
    return (
      <div className={css.notice} role="alert">
        <KeyRound size={15} aria-hidden="true" />
        <p>
          This browser is not signed in. Open the link that the server printed when it started (run
          it again to see it).
        </p>
        <Button onClick={() => client.retry()}>Try again</Button>
      </div>
    );
  }
  if (isNewBuild && !isAway) {
    return (
      <div className={css.notice} role="status">
        <RefreshCw size={15} aria-hidden="true" />
        <p>Liminal was updated. Reload to use the new version; your drafts are kept.</p>
        <Button onClick={() => location.reload()}>Reload</Button>
      </div>
    );
  }
  if (!isAway || !late) return null;
  return (
    <div className={css.notice} role="status">
      <PlugZap size={15} aria-hidden="true" />
      <p>Server unreachable. Reconnecting…</p>
      <Button onClick={() => client.retry()}>Try now</Button>
    </div>
  );
}
