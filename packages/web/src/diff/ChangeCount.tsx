import type { FileDiff } from '@liminal/protocol';
import css from './ChangeCount.module.css';
import { totalChange } from './line-diff.ts';

/** How many lines were added and removed, over all of the diffs. */
export function ChangeCount({ diffs }: { diffs: readonly FileDiff[] }) {
  return <LineCount {...totalChange(diffs)} />;
}

/** Counts of added and removed lines. */
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
