import type { TurnView } from '@liminal/client';
import { memo, useMemo } from 'react';
import { arrange } from './arrange.ts';
import { RowList } from './RowList.tsx';
import css from './Transcript.module.css';
import { TurnEnd } from './TurnEnd.tsx';

interface TurnBlockProps {
  turn: TurnView;
  folder: string | undefined;
  isLast: boolean;
  /** Said above it where it was made elsewhere than the turn before it. */
  place: string | undefined;
}

/** One turn: what was asked, what the agent did, and how it ended. Drawn again only when it changes. */
export const TurnBlock = memo(function TurnBlock({ turn, folder, isLast, place }: TurnBlockProps) {
  const ended = turn.status !== 'in_progress';
  const rows = useMemo(() => arrange(turn.items, ended), [turn.items, ended]);
  return (
    <section
      className={css.turn}
      data-turn-id={turn.turnId}
      data-status={turn.status}
      data-settled={ended}
      aria-label={nameOf(turn)}
      aria-busy={!ended}
    >
      {place !== undefined && <p className={css.place}>{place}</p>}
      <RowList rows={rows} place={{ folder, turnEnded: ended, turnError: turn.error?.message }} />
      <TurnEnd turn={turn} isLast={isLast} />
    </section>
  );
});

/** Of many turns each has a name of its own. */
function nameOf({ startedAt }: TurnView): string {
  return startedAt === undefined ? 'Turn' : `Turn of ${new Date(startedAt).toLocaleTimeString()}`;
}
