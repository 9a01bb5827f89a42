const waiting: (() => void)[] = [];

/**
 * Everybody shares the one thread: between the steps of what takes long, others have a turn. Resolves when they have had
 * it; of those who wait here one at a time goes on, so that no two long steps follow each other.
 */
export function othersFirst(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(letOneGoOn);
  });
}

function letOneGoOn(): void {
  const first = waiting.shift();
  if (waiting.length > 0) setImmediate(letOneGoOn);
  first?.();
}
