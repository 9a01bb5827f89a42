const waiting: (() => void)[] = [];

/**
 * Lets other work run on the one thread between the steps of long work. Resolves after other work has run. If several
 * callers wait, only one caller is resumed at a time, so that no two long steps run directly after each other.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    // Wait two rounds: the first setImmediate runs in the current round of the event loop, before timers and new input.
    if (waiting.length === 1) setImmediate(() => setImmediate(resumeOne));
  });
}

function resumeOne(): void {
  const first = waiting.shift();
  if (waiting.length > 0) setImmediate(resumeOne);
  first?.();
}
