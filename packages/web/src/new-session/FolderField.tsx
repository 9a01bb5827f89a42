import { Autocomplete } from '@base-ui/react/autocomplete';
import { useClient } from '@liminal/client/react';
import { Folder } from 'lucide-react';
import { useEffect, useState } from 'react';
import form from '../look/form.module.css';
import { shortPath } from '../words/paths.ts';
import css from './FolderField.module.css';

interface FolderFieldProps {
  value: string;
  onChange: (folder: string) => void;
  /** Folders of known projects, the newest first. */
  recent: readonly string[];
}

/** Where the agent works: a folder, completed while it is typed, or one used before. */
export function FolderField({ value, onChange, recent }: FolderFieldProps) {
  const folders = useFolders(value);
  return (
    <div className={form.field}>
      <Autocomplete.Root
        items={folders}
        value={value}
        onValueChange={onChange}
        mode="none"
        inline
        open
      >
        <label className={form.label} htmlFor="project-folder">
          Project folder
        </label>
        <Autocomplete.Input
          id="project-folder"
          data-autofocus
          className={form.input}
          placeholder="/home/you/code/project"
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
        />
        {folders.length > 0 && (
          <Autocomplete.List className={css.list} aria-label="Folders">
            {(folder: string) => (
              <Autocomplete.Item key={folder} value={folder} className={css.item}>
                <Folder size={14} aria-hidden="true" />
                <bdi>{folder}</bdi>
              </Autocomplete.Item>
            )}
          </Autocomplete.List>
        )}
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

/** What begins like the text; none once it is exactly one of them with nothing below. */
function useFolders(prefix: string): string[] {
  const { requests } = useClient();
  const [folders, setFolders] = useState<string[]>([]);
  useEffect(() => {
    let wanted = true;
    requests.listFolders(prefix).then(
      (found) => {
        if (wanted)
          setFolders(found.map((folder) => folder.path).filter((path) => path !== prefix));
      },
      // No completion then; the field still takes any path.
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [prefix, requests]);
  return folders;
}
