import type { FileDiff } from '@liminal/protocol';
import css from './ChangeCount.module.css';
import { totalChange } from './line-diff.ts';

/** Shows how many lines were added and removed, in all diffs together. */
export function ChangeCount({ diffs }: { diffs: readonly FileDiff[] }) {
  return <LineCount {...totalChange(diffs)} />;
}

/** Shows the counts of added and removed lines. */
export function LineCount({ added, removed }: { added: number; removed: number }) {
  return (
    <span className={css.change}>
      <span className={css.added} aria-label={`${added} lines added`}>
        +{added}
      </span>
      <span className={css.removed} aria-label={`${removed} lines removed`}>
        −{removed}
      </span>
    </span>
  );
}
