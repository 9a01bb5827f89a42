import type { FileDiff } from '@liminal/protocol';
import { DiffView, slack } from '../diff/DiffView.tsx';
import { lineDiff } from '../diff/line-diff.ts';
import { Button } from '../look/controls.tsx';
import { count } from '../words/amounts.ts';
import css from './EditDiffs.module.css';
import { useRemembered } from './remembered.ts';

/** The number of lines of one call that are shown at first, in all of its changes together. */
const visible = 12;

/** Shows the changes that a call made: the first lines at once, and the rest on request. */
export function EditDiffs({ diffs }: { diffs: readonly FileDiff[] }) {
  const [isWhole, setWhole] = useRemembered('all changes', false);
  const rooms = roomsOf(diffs);
  const shown = isWhole ? diffs : diffs.slice(0, rooms.length);
  const hidden = diffs.length - rooms.length;
  return (
    <>
      {shown.map((diff, index) => (
        <DiffView key={index} diff={diff} named={diffs.length > 1} visible={rooms[index]} />
      ))}
      {hidden > 0 && (
        <Button
          look="quiet"
          className={css.more}
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? 'Show less' : `Show ${count(hidden, 'more change', 'more changes')}`}
        </Button>
      )}
    </>
  );
}

/** Returns the most lines that each of the first changes may show at first. Later changes are left out. */
function roomsOf(diffs: readonly FileDiff[]): number[] {
  const rooms: number[] = [];
  let left = visible;
  for (const diff of diffs) {
    if (left <= 0) break;
    rooms.push(Math.max(left, slack));
    left -= Math.max(lineDiff(diff).lines.length, 1);
  }
  return rooms;
}
