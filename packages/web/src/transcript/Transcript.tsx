import { joinTurns, type SessionStore, type SessionView, type TurnView } from '@liminal/client';
import { ArrowDown } from 'lucide-react';
import { memo, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useAgentName } from '../app/agents.tsx';
import { Button } from '../look/controls.tsx';
import { OlderPages } from './OlderPages.tsx';
import { PendingMessages } from './PendingMessages.tsx';
import { RowMemory, RowMemoryProvider } from './remembered.ts';
import { useScrollTarget } from './scroll-to-item.ts';
import css from './Transcript.module.css';
import { RowGap, TurnBlock } from './TurnBlock.tsx';
import { TakenBackProvider, useFoldedTurns } from './taken-back.tsx';
import { useKeepPlace } from './use-keep-place.ts';
import { useStickToEnd } from './use-stick-to-end.ts';
import { layOut } from './window/lay-out.ts';
import { toRows } from './window/turn-rows.ts';
import { useWindow } from './window/use-window.ts';

interface TranscriptProps {
  view: SessionView;
  /** Loads older pages; undefined if there are none. */
  session?: SessionStore;
  /** The content above the first message. */
  intro: ReactNode;
}

/**
 * Shows the conversation. The transcript follows new content while the reader is at its end, and only rows near the
 * window are in the page. The component is memoized, so that typing in the composer does not render the conversation
 * again.
 */
export const Transcript = memo(function Transcript({ view, session, intro }: TranscriptProps) {
  const stick = useStickToEnd();
  const { scroller, content, sticks, toEnd: scrollToEnd, leaveEnd } = stick;
  const [memory] = useState(() => new RowMemory());
  const { shown, gone, counts, unfold } = useFoldedTurns(view.turns, memory);
  const rows = useMemo(() => toRows(joinTurns(shown)), [shown]);
  const forked = view.info?.session.forkedFrom && view.info.session.createdAt;
  const places = useMemo(() => placesOf(shown, forked, gone), [forked, gone, shown]);
  const { span, held, heights, draw } = useWindow(rows, scroller, content);
  const { pending } = view;
  const hasNew = useHasNewTurn(sticks, view);
  const count = rows.length;
  const isEndDrawn = span.to >= count;
  const toEnd = useCallback(() => {
    if (!isEndDrawn) draw(count - 1);
    scrollToEnd();
  }, [count, draw, isEndDrawn, scrollToEnd]);
  useKeepPlace(scroller, content, stick);
  useFollowOwnMessage(pending.length, toEnd);
  useScrollTarget({ sessionId: view.sessionId, rows, memory, unfold, draw, leaveEnd, scroller });
  const folder = view.info?.session.projectDir;
  const agent = useAgentName(view.info?.session.cliType);
  const lastTurnId = view.turns.at(-1)?.turnId;

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
          {view.hasMore && session !== undefined ? (
            <OlderPages session={session} scroller={scroller} before={view.before} />
          ) : (
            intro
          )}
          <TakenBackProvider value={counts}>
            <RowMemoryProvider value={memory}>
              {layOut(rows, span, held, heights.tops(rows)).map((block) =>
                block.kind === 'gap' ? (
                  <RowGap key={block.key} height={block.height} />
                ) : (
                  <TurnBlock
                    key={block.turn.turnId}
                    turn={block.turn}
                    parts={block.parts}
                    folder={folder}
                    isLast={block.turn.turnId === lastTurnId}
                    place={places.get(block.turn.turnId)}
                    agent={agent}
                    isTakenBack={gone.has(block.turn.turnId)}
                  />
                ),
              )}
            </RowMemoryProvider>
          </TakenBackProvider>
          {forked !== undefined && view.turns.length > 0 && !hasOwnTurn(view.turns, forked) && (
            <p className={css.place}>{forkedHere}</p>
          )}
          {session !== undefined && <PendingMessages pending={pending} session={session} />}
        </div>
      </div>
      {!sticks && (
        <Button className={css.down} onClick={toEnd} data-news={hasNew}>
          <ArrowDown size={14} />
          {hasNew ? 'new' : 'Jump to latest'}
        </Button>
      )}
    </div>
  );
});

const forkedHere = 'Forked here: the original has only what is above';

/**
 * Returns labels for turns, by the turn's id: for the first turn that was made in a terminal or in Liminal after turns
 * that were made in the other of the two, for the first turn of a fork, and for the first of several turns that were
 * taken back.
 * @param forked - The time at which the session was forked from another session (ISO 8601). Turns before this time are
 * copies.
 */
function placesOf(
  turns: readonly TurnView[],
  forked: string | undefined,
  gone: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1];
    const by = gone.get(turn.turnId);
    if (by !== undefined && by !== gone.get(before?.turnId ?? '')) {
      places.set(turn.turnId, 'Taken back: the agent does not know of this');
      continue;
    }
    if (before === undefined) continue;
    if (forked !== undefined && isOwn(turn, forked) && !isOwn(before, forked))
      places.set(turn.turnId, forkedHere);
    else if (before.madeElsewhere !== turn.madeElsewhere)
      places.set(turn.turnId, turn.madeElsewhere ? 'In the terminal' : 'In Liminal');
  }
  return places;
}

/** Whether a turn of a fork began after the session was forked. */
function isOwn({ startedAt }: TurnView, forked: string): boolean {
  return startedAt === undefined || startedAt >= Date.parse(forked);
}

const hasOwnTurn = (turns: readonly TurnView[], forked: string): boolean =>
  turns.some((turn) => isOwn(turn, forked));

/** Returns whether something was added at the end since the reader left the end. */
function useHasNewTurn(sticks: boolean, view: SessionView): boolean {
  const lastTurn = view.turns.at(-1);
  const [seen, setSeen] = useState(lastTurn);
  if (sticks && seen !== lastTurn) setSeen(lastTurn);
  return !sticks && seen !== lastTurn;
}

/** Scrolls to the end when the person sends a message. */
function useFollowOwnMessage(pending: number, toEnd: () => void): void {
  const before = useRef(pending);
  useEffect(() => {
    if (pending > before.current) toEnd();
    before.current = pending;
  }, [pending, toEnd]);
}
