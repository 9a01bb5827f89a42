import { Tinypool } from 'tinypool';

/** Characters: a line that is longer would hold up everybody while it is read. */
export const largeLine = 1024 * 1024;
/** How long (ms) the thread waits for another line. */
const idleMs = 10_000;

/** One for all agents: whoever floods it waits for its own lines. */
let pool: Tinypool | undefined;

/** As `parseLine`, in another thread, and with no more values than there is time for (`withFewValues`). */
export async function parseLargeLine(line: string): Promise<unknown> {
  return run('parse', line);
}

/** The same line, as JSON still, for who parses it by himself; '' if it has too many values even so. */
export async function shortenLargeLine(line: string): Promise<string> {
  return run('shorten', line);
}

function run<T>(name: 'parse' | 'shorten', line: string): Promise<T> {
  // It has no dependencies of its own, and a thread only while there is work.
  pool ??= new Tinypool({
    filename: new URL('./large-line-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
  });
  return pool.run(line, { name });
}
