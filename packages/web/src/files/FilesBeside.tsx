import type { SessionView } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { focusComposer } from '../composer/focus-composer.ts';
import { lazyComponent } from '../look/lazy-component.tsx';
import type { FileTarget } from './file-target.ts';
import { type SessionFiles, SessionFilesContext } from './files.ts';
import css from './FilesBeside.module.css';
import { KnownFiles } from './known-files.ts';

// The code of the pane is fetched when a person opens the first file.
const FilePane = lazyComponent(() => import('./FilePane.tsx'));

interface FilesBesideProps {
  view: SessionView;
  /** The conversation. */
  children: ReactNode;
}

/** Shows a conversation, and beside it the file that a person has opened. */
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
        // A link inside the pane is not remembered as the opener, because it disappears with the file.
        if (activeElement?.closest('[data-file-pane]') === null) opener.current = activeElement;
        // Set a new object, so that the pane reads the file again even if the file is already open.
        setTarget({ ...next });
      },
      read: (path) => requests.readFile(sessionId, path),
    }),
    [folder, known, requests, sessionId],
  );
  // Move the focus only when the pane is gone: while it covers the page, no element behind it can receive the focus.
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
