/** Signals that ask a program to end: Ctrl+C, a service manager, a closed terminal. */
const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * After this call, signals no longer end the process by themselves: the first signal aborts the first of the three
 * results, and so on.
 */
export function endSignals(): [first: AbortSignal, second: AbortSignal, third: AbortSignal] {
  const stages = [new AbortController(), new AbortController(), new AbortController()] as const;
  const left = [...stages];
  for (const name of names) process.on(name, () => left.shift()?.abort());
  const [first, second, third] = stages;
  return [first.signal, second.signal, third.signal];
}

/** Resolves when the signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
