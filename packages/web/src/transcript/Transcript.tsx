import type { SessionStore, SessionView, TurnView } from '@liminal/client';
import { ArrowDown } from 'lucide-react';
import { type ReactNode, useDeferredValue, useEffect, useRef, useState } from 'react';
import { Button } from '../look/controls.tsx';
import { OlderPages } from './OlderPages.tsx';
import { PendingMessages } from './PendingMessages.tsx';
import css from './Transcript.module.css';
import { TurnBlock } from './TurnBlock.tsx';
import { useStickToEnd } from './use-stick-to-end.ts';

interface TranscriptProps {
  view: SessionView;
  session: SessionStore;
  /** Stands above the first message. */
  intro: ReactNode;
}

/** The conversation. It follows what is said while the reader is at its end. */
export function Transcript({ view, session, intro }: TranscriptProps) {
  const { scroller, content, sticks, toEnd } = useStickToEnd();
  const first = useFirstShown(view.turns.length);
  const { pending } = view;
  const hasNew = useNews(sticks, view);
  useFollowOwnMessage(pending.length, toEnd);
  const folder = view.info?.session.projectDir;

  return (
    <div className={css.frame}>
      <div className={css.scroller} ref={scroller}>
        <div
          className={css.column}
          ref={content}
          role="log"
          aria-label="Conversation"
          aria-live="off"
        >
          {first === 0 &&
            (view.hasMore ? <OlderPages session={session} scroller={scroller} /> : intro)}
          {view.turns.slice(first).map((turn, index) => (
            <TurnBlock
              key={turn.turnId}
              turn={turn}
              folder={folder}
              isLast={first + index === view.turns.length - 1}
              place={placeOf(turn, view.turns[first + index - 1])}
            />
          ))}
          <PendingMessages pending={pending} session={session} />
        </div>
      </div>
      {!sticks && (
        <Button className={css.down} onClick={toEnd} data-news={hasNew}>
          <ArrowDown size={14} />
          {hasNew ? 'new' : 'to the end'}
        </Button>
      )}
    </div>
  );
}

/** Where a conversation went on, if not where it was before. */
function placeOf(turn: TurnView, before: TurnView | undefined): string | undefined {
  if (before === undefined || before.madeElsewhere === turn.madeElsewhere) return undefined;
  return turn.madeElsewhere ? 'In the terminal' : 'Here again';
}

/** So many turns are drawn at once when a conversation is opened. */
const atOnce = 4;

/** The first turn to draw: the newest few come first, the rest while the page can already be used. */
function useFirstShown(turns: number): number {
  return useDeferredValue(0, Math.max(0, turns - atOnce));
}

/** Whether something was added below since the reader left the end. */
function useNews(sticks: boolean, view: SessionView): boolean {
  const newest = view.turns.at(-1);
  const [seen, setSeen] = useState(newest);
  if (sticks && seen !== newest) setSeen(newest);
  return !sticks && seen !== newest;
}

/** Whoever sends a message wants to see it. */
function useFollowOwnMessage(pending: number, toEnd: () => void): void {
  const before = useRef(pending);
  useEffect(() => {
    if (pending > before.current) toEnd();
    before.current = pending;
  }, [pending, toEnd]);
}
