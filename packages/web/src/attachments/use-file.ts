import { describeError } from '@liminal/client';
import { useClient, useConnection } from '@liminal/client/react';
import { useEffect, useState } from 'react';
import { fileNameOf } from '../words/label.ts';

/** A file to show: an address that is valid while the component is mounted, or the error. */
export interface ShownFile {
  url?: string;
  problem?: string;
}

/**
 * Returns the file of a block, found by the block's address (`blob:…` or `local:…`); empty while the file is being
 * read.
 */
export function useFile(uri: string | undefined): ShownFile {
  const { files } = useClient();
  const isConnected = useConnection().state === 'open';
  const [shown, setShown] = useState<ShownFile & { uri?: string }>({});
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (uri === undefined) return undefined;
    let wanted = true;
    let url: string | undefined;
    files.read(uri).then(
      (file) => {
        if (!wanted) return;
        url = URL.createObjectURL(file);
        setShown({ uri, url });
      },
      (error: unknown) => {
        if (wanted) setShown({ uri, problem: describeError(error).message });
      },
    );
    return () => {
      wanted = false;
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [files, uri, attempt]);

  const hasFailed = shown.problem !== undefined;
  useEffect(() => {
    // Try again after a reconnect, because reading the file may have failed only because the server could not be
    // reached.
    if (isConnected && hasFailed) setAttempt((before) => before + 1);
    // oxlint-disable-next-line react/exhaustive-deps -- once for each connection, not for each failure
  }, [isConnected]);
  return shown.uri === uri ? shown : {};
}

/** Saves a file as a download. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a');
  // Leave out the file's type, so that the browser never shows the file as a page of our origin.
  link.href = URL.createObjectURL(new Blob([file]));
  link.download = fileNameOf(name);
  link.click();
  // The browser reads the address only after the click, so revoke the address later.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
