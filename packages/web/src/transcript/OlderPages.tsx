import { describeError, type SessionStore } from '@liminal/client';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { Button } from '../look/controls.tsx';
import css from './Transcript.module.css';

interface OlderPagesProps {
  session: SessionStore;
  scroller: RefObject<HTMLDivElement | null>;
}

/** How far above the window the next older page is already fetched. */
const ahead = '1200px';

/** Stands where the known conversation begins, and fetches what came before when it comes near. */
export function OlderPages({ session, scroller }: OlderPagesProps) {
  const mark = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<string>();

  useEffect(() => {
    const element = mark.current;
    if (element === null || problem !== undefined) return undefined;
    const load = async () => {
      const restore = keepPlace(scroller.current);
      try {
        await session.loadOlder();
        restore();
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
  });

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

/**
 * Browsers keep what is read in place when something is put above it, except at the very top of a scroller, and
 * except those that never do.
 */
function keepPlace(scroller: HTMLDivElement | null): () => void {
  if (scroller === null) return () => undefined;
  const anchors = CSS.supports('overflow-anchor', 'auto') && scroller.scrollTop > 0;
  if (anchors) return () => undefined;
  const fromEnd = scroller.scrollHeight - scroller.scrollTop;
  return () => {
    requestAnimationFrame(() => {
      scroller.scrollTop = scroller.scrollHeight - fromEnd;
    });
  };
}
