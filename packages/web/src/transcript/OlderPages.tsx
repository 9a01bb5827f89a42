import { describeError, type SessionStore } from '@liminal/client';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { Button } from '../look/controls.tsx';
import css from './Transcript.module.css';

interface OlderPagesProps {
  session: SessionStore;
  scroller: RefObject<HTMLDivElement | null>;
  /** The cursor of the next older page; a new cursor means that a page has arrived. */
  before: string | undefined;
}

/** The next older page is fetched when its position is less than this far above the window. */
const preloadMargin = '1200px';

/** Marks the start of the loaded conversation, and fetches the next older page when the reader comes near the start. */
export function OlderPages({ session, scroller, before }: OlderPagesProps) {
  const mark = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<string>();

  useEffect(() => {
    const element = mark.current;
    if (element === null || problem !== undefined) return undefined;
    const load = async () => {
      try {
        await session.loadOlder();
      } catch (error) {
        setProblem(describeError(error).message);
      }
    };
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) void load();
      },
      { root: scroller.current, rootMargin: `${preloadMargin} 0px 0px 0px` },
    );
    watch.observe(element);
    return () => watch.disconnect();
    // Observe the start again after each page, because it may still be near the window.
  }, [before, problem, scroller, session]);

  return (
    <div className={css.older} ref={mark}>
      {problem === undefined ? (
        'Loading older messages…'
      ) : (
        <>
          Older messages could not be loaded: {problem}
          <Button look="quiet" onClick={() => setProblem(undefined)}>
            Try again
          </Button>
        </>
      )}
    </div>
  );
}
