import { Tinypool } from 'tinypool';

/** Characters: parsing a longer line would delay all other work. */
export const largeLine = 1024 * 1024;
/** How long (ms) the thread waits for another line. */
const idleMs = 10_000;

/** One thread for all agents: an agent that floods it waits for its own lines. */
let pool: Tinypool | undefined;

/** As `parseLine`, in another thread, and with a bounded number of values (`withFewValues`). */
export async function parseLargeLine(line: string): Promise<unknown> {
  return run('parse', line);
}

/** The line with fewer values, still as JSON, for callers that parse it themselves; '' if it has too many even then. */
export async function shortenLargeLine(line: string): Promise<string> {
  return run('shorten', line);
}

function run<T>(name: 'parse' | 'shorten', line: string): Promise<T> {
  // The pool has no dependencies of its own, and a thread only while there is work.
  pool ??= new Tinypool({
    filename: new URL('./large-line-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
  });
  return pool.run(line, { name });
}
