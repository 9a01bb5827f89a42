import { Autocomplete } from '@base-ui/react/autocomplete';
import { useClient } from '@liminal/client/react';
import { ChevronDown, Folder } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import form from '../look/form.module.css';
import { shortPath } from '../words/paths.ts';
import css from './FolderField.module.css';

interface FolderFieldProps {
  value: string;
  onChange: (folder: string) => void;
  /** The folders of known projects, the newest first. */
  recent: readonly string[];
}

/** The field for the agent's folder. Completes the typed path, or offers folders that were used before. */
export function FolderField({ value, onChange, recent }: FolderFieldProps) {
  const folders = useFolders(value);
  const [wanted, setWanted] = useState(false);
  const field = useRef<HTMLDivElement>(null);
  return (
    <div className={form.field} ref={field}>
      <Autocomplete.Root
        items={folders}
        value={value}
        onValueChange={(folder, { reason }) => {
          // Escape first closes the list and then the dialog; the typed text stays.
          if (reason !== 'escape-key') onChange(folder);
        }}
        mode="none"
        // Open the list only if it contains folders, because an open list hides the rest of the page from screen
        // readers.
        open={wanted && folders.length > 0}
        onOpenChange={setWanted}
        openOnInputClick
      >
        <label className={form.label} htmlFor="project-folder">
          Project folder
        </label>
        <Autocomplete.InputGroup className={css.group}>
          <Autocomplete.Input
            id="project-folder"
            data-autofocus
            className={form.input}
            placeholder="/home/you/code/project"
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
          />
          <Autocomplete.Trigger className={css.open} aria-label="Show folders" title="Show folders">
            <ChevronDown size={15} aria-hidden="true" />
          </Autocomplete.Trigger>
        </Autocomplete.InputGroup>
        {/* The list is inside the dialog, because nothing outside of an open dialog can be reached. */}
        <Autocomplete.Portal container={field}>
          <Autocomplete.Positioner
            className={css.positioner}
            positionMethod="fixed"
            align="start"
            sideOffset={4}
          >
            <Autocomplete.Popup className={css.popup}>
              <Autocomplete.List className={css.list} aria-label="Folders">
                {(folder: string) => (
                  <Autocomplete.Item key={folder} value={folder} className={css.item}>
                    <Folder size={14} aria-hidden="true" />
                    <bdi>{folder}</bdi>
                  </Autocomplete.Item>
                )}
              </Autocomplete.List>
            </Autocomplete.Popup>
          </Autocomplete.Positioner>
        </Autocomplete.Portal>
      </Autocomplete.Root>
      {recent.length > 0 && (
        <div className={css.recent} role="group" aria-label="Recent folders">
          {recent.slice(0, 6).map((folder) => (
            <button
              key={folder}
              type="button"
              title={folder}
              aria-pressed={folder === value}
              onClick={() => onChange(folder)}
            >
              {shortPath(folder)}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Whether the typed text is the folder's full path. The text may begin with `~`, as in `~/code`. */
function isWritten(path: string, text: string): boolean {
  const written = text.replace(/\/$/, '');
  return path === written || (written.startsWith('~/') && path.endsWith(written.slice(1)));
}

/** Returns the folders whose paths begin with the text, without the text itself. */
function useFolders(prefix: string): string[] {
  const { requests } = useClient();
  const [folders, setFolders] = useState<string[]>([]);
  useEffect(() => {
    let wanted = true;
    requests.listFolders(prefix).then(
      (found) => {
        if (wanted)
          setFolders(found.map((folder) => folder.path).filter((path) => !isWritten(path, prefix)));
      },
      // The error is ignored: without completions, the field accepts any path.
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [prefix, requests]);
  return folders;
}
