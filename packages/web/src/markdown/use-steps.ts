import { useEffect, useState } from 'react';
import { stepEnd } from './limits.ts';

/** How much of a text is read (characters): it grows in steps, so that the page stays responsive. */
export function useSteps(text: string): number {
  const [reached, setReached] = useState(0);
  const next = Math.max(reached, stepEnd(text, reached));
  // Growth of up to one step is read at once.
  const to = reached === 0 || next >= text.length ? next : reached;
  if (to !== reached) setReached(to);
  const isBehind = to < text.length;
  useEffect(() => {
    if (!isBehind) return undefined;
    const timer = setTimeout(() => setReached(stepEnd(text, to)));
    return () => clearTimeout(timer);
    // Growth meanwhile does not put off the next step.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [to, isBehind]);
  return Math.min(to, text.length);
}
