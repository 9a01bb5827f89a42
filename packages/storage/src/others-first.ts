const waiting: (() => void)[] = [];

/**
 * Lets other work run on the one thread between the steps of long work. Resolves when it has; of several waiting
 * callers one goes on at a time, so that no two long steps follow each other.
 */
export function othersFirst(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    // Twice: the first comes in the same round of the event loop, before timers and what has arrived meanwhile.
    if (waiting.length === 1) setImmediate(() => setImmediate(letOneGoOn));
  });
}

function letOneGoOn(): void {
  const first = waiting.shift();
  if (waiting.length > 0) setImmediate(letOneGoOn);
  first?.();
}
