import type { ToolCallUpsert } from '@liminal/protocol';
import { FileLink } from '../files/FileLink.tsx';
import { targetWords } from '../files/file-target.ts';
import { ShownText } from '../look/ShownText.tsx';
import { shortPath } from '../words/paths.ts';
import css from './ToolDetails.module.css';

interface ToolFilesProps {
  call: ToolCallUpsert;
  folder: string | undefined;
}

/** Shows links to the files of a call. */
export function ToolFiles({ call, folder }: ToolFilesProps) {
  const places = [...(call.locations ?? []), ...(call.diffs ?? [])];
  const targets = new Map(
    places
      .map((place) => {
        const line = 'line' in place ? place.line : undefined;
        const target = { path: place.path, ...(line !== undefined && { line }) };
        return [place.path, target] as const;
      })
      .toReversed(),
  );
  if (targets.size === 0) return null;
  return (
    <p className={css.files}>
      {[...targets.values()].toReversed().map((target) => (
        <FileLink key={target.path} target={target}>
          <ShownText text={targetWords({ ...target, path: shortPath(target.path, folder) })} />
        </FileLink>
      ))}
    </p>
  );
}
