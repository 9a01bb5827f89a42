import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StartLimit } from '../../base/start-limit.ts';
import { ToolError } from '../tool-error.ts';
import type { PageText } from './html-text.ts';

/** How long one page may take, ms. */
const timeLimit = 20_000;
/** Of a thread's heap, MiB. No page that `fetch` takes comes near it. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
/** Threads at once; further pages wait. */
const threads = new StartLimit(2);

export interface PageOptions {
  /** For tests: the module that the thread runs, and how long it may take (ms). */
  module?: URL;
  limit?: number;
}

/**
 * The text of an HTML page, as `htmlText` returns it. A thread of its own turns the page into text: a page that needs
 * more time or memory than expected ends only that thread. Throws ToolError for such a page, and if `signal` aborts.
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
    // Rejects when the thread fails.
    const [page] = (await once(worker, 'message', {
      signal: AbortSignal.any([signal, inTime]),
    })) as [PageText];
    return page;
  } catch (error) {
    if (signal.aborted || !inTime.aborted) throw error;
    throw new ToolError(`The page cannot be read: that takes longer than ${limit / 1_000} s.`);
  } finally {
    await worker.terminate();
  }
}
