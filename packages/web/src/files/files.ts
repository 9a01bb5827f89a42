import type { FileResult } from '@liminal/protocol';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { codeTarget, type FileTarget } from './file-target.ts';
import type { KnownFiles } from './known-files.ts';

/** The files of the active session. */
export interface SessionFiles {
  /** The project's folder; undefined while it is not known. */
  folder: string | undefined;
  /** Shows a file beside the conversation. */
  open: (target: FileTarget) => void;
  /** Reads a file; rejects if the server refuses to read it. */
  read: (path: string) => Promise<FileResult>;
  known: KnownFiles;
}

export const SessionFilesContext = createContext<SessionFiles | undefined>(undefined);

/** Returns the files of the session around the component; undefined outside of a session. */
export function useSessionFiles(): SessionFiles | undefined {
  return useContext(SessionFilesContext);
}

/** Returns the file whose name a piece of code is; undefined if no tool of the session has used such a file. */
export function useNamedFile(code: string): FileTarget | undefined {
  const known = useSessionFiles()?.known;
  const target = codeTarget(code);
  const look = () => (target === undefined ? undefined : known?.find(target.path));
  const path = useSyncExternalStore(known?.subscribe ?? never, look, look);
  return path === undefined || target === undefined ? undefined : { ...target, path };
}

function never(): () => void {
  return () => undefined;
}
