import { useEffect, useState } from 'react';
import { stepEnd } from './limits.ts';

/** How far a text is read (characters): in steps, so that the page answers in between. */
export function useSteps(text: string): number {
  const [reached, setReached] = useState(0);
  const next = Math.max(reached, stepEnd(text, reached));
  // What a message grows by is read at once, where that is a step.
  const to = reached === 0 || next >= text.length ? next : reached;
  if (to !== reached) setReached(to);
  const isBehind = to < text.length;
  useEffect(() => {
    if (!isBehind) return undefined;
    const timer = setTimeout(() => setReached(stepEnd(text, to)));
    return () => clearTimeout(timer);
    // What it grows by meanwhile does not put off the next step.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [to, isBehind]);
  return Math.min(to, text.length);
}
