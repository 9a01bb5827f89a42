import type { TurnView } from '@liminal/client';
import { tokens } from '../words/amounts.ts';
import { duration } from '../words/time.ts';
import { isWaiting } from './arrange.ts';
import { Elapsed } from './Elapsed.tsx';
import { ErrorNote } from './Notes.tsx';
import css from './TurnEnd.module.css';

/** How a turn stands: at work, waiting, stopped, failed, or done in so much time. */
export function TurnEnd({ turn }: { turn: TurnView }) {
  if (turn.status === 'in_progress') return <AtWork turn={turn} />;
  if (turn.status === 'error') {
    return (
      <ErrorNote title="The turn failed" code={turn.error?.code} message={turn.error?.message} />
    );
  }
  const took = tookOf(turn);
  const parts = [
    turn.status === 'aborted' ? 'Stopped' : undefined,
    took === undefined ? undefined : duration(took),
    turn.usage === undefined ? undefined : `${tokens(turn.usage.outputTokens)} tokens out`,
  ].filter((part) => part !== undefined);
  return (
    <p className={css.end} data-status={turn.status}>
      {parts.join(' · ')}
    </p>
  );
}

function AtWork({ turn }: { turn: TurnView }) {
  const waits = turn.items.some((item) => item.type === 'approval' && isWaiting(item));
  if (waits) return null;
  return (
    <p className={css.work} role="status">
      <span className={css.pulse} aria-hidden="true" />
      Working <Elapsed since={turn.startedAt} />
    </p>
  );
}

function tookOf({ startedAt, endedAt }: TurnView): number | undefined {
  return startedAt === undefined || endedAt === undefined ? undefined : endedAt - startedAt;
}
