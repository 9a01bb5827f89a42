import { FileText, Folder } from 'lucide-react';
import { CompletionMenu } from '../completion/CompletionMenu.tsx';
import { ShownText } from '../look/ShownText.tsx';
import css from './MentionMenu.module.css';
import type { FoundFile } from './use-found-files.ts';
import type { Mentions } from './use-mentions.ts';

/** Lists the files and folders that match a mention. */
export function MentionMenu({ mentions }: { mentions: Mentions }) {
  return (
    <CompletionMenu
      completion={mentions.completion}
      name="Files"
      show={(file) => ({ key: file.path, content: <FoundFileName file={file} /> })}
      note={noteOn(mentions)}
    />
  );
}

function FoundFileName({ file: { path, name } }: { file: FoundFile }) {
  const isFolder = path.endsWith('/');
  const Icon = isFolder ? Folder : FileText;
  const inFolder = path.slice(0, path.length - name.length - Number(isFolder));
  return (
    <span className={css.found} title={path}>
      <Icon size={14} aria-hidden="true" />
      <span className={css.name}>
        <ShownText text={isFolder ? `${name}/` : name} />
      </span>
      {inFolder !== '' && (
        // The path is cut at its start, because its end identifies the folder.
        <span className={css.folder}>
          <bdi>
            <ShownText text={inFolder} />
          </bdi>
        </span>
      )}
    </span>
  );
}

function noteOn({ completion, found }: Mentions) {
  const hasMatches = completion.matches.length > 0;
  if (found === undefined) {
    return hasMatches ? undefined : <span data-later>Searching files</span>;
  }
  if (found.problem !== undefined) return `Files cannot be looked up. ${found.problem}`;
  const some = 'Too many files: search is incomplete.';
  if (hasMatches) return found.isCut ? some : undefined;
  const none = found.query === '' ? 'This folder has no files.' : 'No matching files.';
  return found.isCut ? `${none} ${some}` : none;
}
