import type { SessionView } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { focusComposer } from '../composer/focus-composer.ts';
import { lazyComponent } from '../look/lazy-component.tsx';
import type { FileTarget } from './file-target.ts';
import { type SessionFiles, SessionFilesContext } from './files.ts';
import css from './FilesBeside.module.css';
import { KnownFiles } from './known-files.ts';

// Fetched when a file is first opened.
const FilePane = lazyComponent(() => import('./FilePane.tsx'));

interface FilesBesideProps {
  view: SessionView;
  /** The conversation. */
  children: ReactNode;
}

/** A conversation, and the file shown beside it. */
export function FilesBeside({ view, children }: FilesBesideProps) {
  const { requests } = useClient();
  const { sessionId, info, turns } = view;
  const folder = info?.session.projectDir;
  const [target, setTarget] = useState<FileTarget>();
  const opener = useRef<Element>(null);
  const [known] = useState(() => new KnownFiles());
  useEffect(() => {
    for (const turn of turns) known.addItems(turn.items);
  }, [known, turns]);

  const files = useMemo<SessionFiles>(
    () => ({
      folder,
      known,
      open: (next) => {
        const { activeElement } = document;
        // A link inside the pane disappears with the file that it was in.
        if (activeElement?.closest('[data-file-pane]') === null) opener.current = activeElement;
        // A new object, so that a file that is already open is read again.
        setTarget({ ...next });
      },
      read: (path) => requests.readFile(sessionId, path),
    }),
    [folder, known, requests, sessionId],
  );
  // Only after the pane is gone: while the pane covers the page, nothing behind it can take the focus.
  useEffect(() => {
    if (target !== undefined || opener.current === null) return;
    if (opener.current instanceof HTMLElement && opener.current.isConnected) opener.current.focus();
    else focusComposer();
    opener.current = null;
  }, [target]);

  return (
    <SessionFilesContext value={files}>
      <div className={css.split}>
        <div className={css.conversation}>{children}</div>
        {target !== undefined && (
          <FilePane target={target} files={files} onClose={() => setTarget(undefined)} />
        )}
      </div>
    </SessionFilesContext>
  );
}
