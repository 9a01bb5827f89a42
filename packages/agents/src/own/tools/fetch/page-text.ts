import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Semaphore } from '../../../contract/semaphore.ts';
import { ToolError } from '../tool-error.ts';
import type { PageText } from './html-text.ts';

/** The time limit for one page, in ms. */
const timeLimit = 20_000;
/** Limits of the thread's heap, MiB. A page of a size that `fetch` accepts needs far less. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
/** The most threads that run at the same time; further pages wait. */
const threads = new Semaphore(2);

export interface PageOptions {
  /** For tests: the module that the thread runs, and the time limit (ms). */
  module?: URL;
  limit?: number;
}

/**
 * Returns the text of an HTML page that `htmlText` would return. The conversion runs in a separate thread, so that a
 * page that needs too much time or memory ends only that thread. Throws ToolError for a page that needs too much time
 * or memory, or if `signal` aborts.
 */
export async function pageText(
  html: string,
  signal: AbortSignal,
  { module = new URL('./html-worker.ts', import.meta.url), limit = timeLimit }: PageOptions = {},
): Promise<PageText> {
  try {
    return await threads.run(async () => inThread(module, html, signal, limit), signal);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    if (signal.aborted) throw new ToolError('The call was stopped.', { cause: error });
    throw new ToolError('The page cannot be read: it needs too much memory, or is broken.', {
      cause: error,
    });
  }
}

async function inThread(
  module: URL,
  html: string,
  signal: AbortSignal,
  limit: number,
): Promise<PageText> {
  signal.throwIfAborted();
  const inTime = AbortSignal.timeout(limit);
  const worker = new Worker(module, { workerData: html, env: {}, resourceLimits });
  try {
    // `once` rejects if the thread fails.
    const [page] = (await once(worker, 'message', {
      signal: AbortSignal.any([signal, inTime]),
    })) as [PageText];
    return page;
  } catch (error) {
    if (signal.aborted || !inTime.aborted) throw error;
    throw new ToolError(`The page cannot be read: it takes longer than ${limit / 1_000} s.`);
  } finally {
    await worker.terminate();
  }
}
