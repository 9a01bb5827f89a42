import { Tinypool } from 'tinypool';

/** The length, in characters, from which parsing a line would delay all other work. */
export const largeLine = 1024 * 1024;
/** How long the idle thread lives, in ms. */
const idleMs = 10_000;

/** All agents share one thread. An agent that sends many large lines waits for its own lines. */
let pool: Tinypool | undefined;

/** Parses a line as `parseLine` does, but in another thread and with a limited number of values (`withFewValues`). */
export async function parseLargeLine(line: string): Promise<unknown> {
  return runInWorker('parse', line);
}

/**
 * Returns the line as JSON with fewer values, for callers that parse the line themselves; '' if the line still has too
 * many values.
 */
export async function shortenLargeLine(line: string): Promise<string> {
  return runInWorker('shorten', line);
}

function runInWorker<T>(name: 'parse' | 'shorten', line: string): Promise<T> {
  // Tinypool has no dependencies, and runs a thread only while there is work.
  pool ??= new Tinypool({
    filename: new URL('./large-line-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
  });
  return pool.run(line, { name });
}
