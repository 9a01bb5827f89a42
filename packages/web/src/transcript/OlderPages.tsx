import { describeError, type SessionStore } from '@liminal/client';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { Button } from '../look/controls.tsx';
import css from './Transcript.module.css';

interface OlderPagesProps {
  session: SessionStore;
  scroller: RefObject<HTMLDivElement | null>;
  /** The mark of the next older page: when it changes, a page has come. */
  before: string | undefined;
}

/** How far above the window the next older page is already fetched. */
const ahead = '1200px';

/** Stands where the known conversation begins, and fetches what came before when it comes near. */
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
      { root: scroller.current, rootMargin: `${ahead} 0px 0px 0px` },
    );
    watch.observe(element);
    return () => watch.disconnect();
    // Watched anew after each page: what was near the window may be so still.
  }, [before, problem, scroller, session]);

  return (
    <div className={css.older} ref={mark}>
      {problem === undefined ? (
        'Loading older messages …'
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
