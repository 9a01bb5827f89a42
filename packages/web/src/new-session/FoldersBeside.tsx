import { Fold } from '../look/Fold.tsx';
import css from './FoldersBeside.module.css';

interface FoldersBesideProps {
  /** The folders, one on each line. */
  value: string;
  onChange: (folders: string) => void;
}

/** The field for further folders in which the agent may work. The field is folded while it is empty. */
export function FoldersBeside({ value, onChange }: FoldersBesideProps) {
  const count = nonBlankLines(value).length;
  return (
    <Fold summary={`Additional folders${count > 0 ? `: ${count}` : ''}`} isOpen={count > 0}>
      <textarea
        aria-label="Additional folders, one a line"
        className={css.folders}
        rows={2}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
      />
    </Fold>
  );
}

export const nonBlankLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
