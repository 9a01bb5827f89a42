import type { FileDiff, UpsertObject } from '@liminal/protocol';
import { FileDiff as FileDiffIcon } from 'lucide-react';
import { ChangeCount } from '../diff/ChangeCount.tsx';
import { DiffView } from '../diff/DiffView.tsx';
import { FileLink } from '../files/FileLink.tsx';
import { Disclosure } from '../look/Disclosure.tsx';
import { ShownText } from '../look/ShownText.tsx';
import { shortPath } from '../words/paths.ts';
import css from './FileChanges.module.css';
import card from './ToolCard.module.css';
import { openName, useRemembered } from './remembered.ts';
import outcome from './ToolOutcome.module.css';

interface FileChangesProps {
  item: Extract<UpsertObject, { type: 'file_changes' }>;
  folder: string | undefined;
}

/** Shows how a turn changed files in total: one line, and below it the change of each file. */
export function FileChanges({ item, folder }: FileChangesProps) {
  const [open, setOpen] = useRemembered(openName, false);
  const files = [...Map.groupBy(item.diffs, ({ path }) => path)];
  const names = files.map(([path]) => shortPath(path, folder)).join(', ');
  const label = files.length === 1 ? '1 file changed' : `${files.length} files changed`;
  return (
    <div className={css.changes} role="group" aria-label={label} data-item-id={item.itemId}>
      <Disclosure className={card.head} isOpen={open} onToggle={() => setOpen(!open)}>
        <FileDiffIcon size={15} aria-hidden="true" />
        <span className={card.verb}>{label}</span>
        <span className={card.subject}>
          <ShownText text={open ? '' : names} />
        </span>
        <span className={outcome.outcome}>
          <ChangeCount diffs={item.diffs} />
        </span>
      </Disclosure>
      {open && files.map(([path, diffs]) => <File key={path} {...{ path, diffs, folder }} />)}
    </div>
  );
}

interface FileProps {
  path: string;
  diffs: FileDiff[];
  folder: string | undefined;
}

function File({ path, diffs, folder }: FileProps) {
  return (
    <div className={css.file}>
      <p className={css.name}>
        <FileLink target={{ path }}>
          <ShownText text={shortPath(path, folder)} />
        </FileLink>
        <ChangeCount diffs={diffs} />
      </p>
      {diffs.map((diff, index) => (
        <DiffView key={index} diff={diff} named={false} />
      ))}
    </div>
  );
}
