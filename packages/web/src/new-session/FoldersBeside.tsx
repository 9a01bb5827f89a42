import form from '../look/form.module.css';
import css from './FoldersBeside.module.css';

interface FoldersBesideProps {
  /** One folder a line. */
  value: string;
  onChange: (folders: string) => void;
}

/** Folders in which the agent may work beside the project's; folded while there are none. */
export function FoldersBeside({ value, onChange }: FoldersBesideProps) {
  return (
    <details className={css.beside} open={value === '' ? undefined : true}>
      <summary className={form.label}>Additional folders</summary>
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
    </details>
  );
}

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
