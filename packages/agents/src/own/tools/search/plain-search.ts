/** The search without ripgrep. The search runs in a separate thread, because a regular expression may never finish. */
import { Worker } from 'node:worker_threads';
import type { ProjectPlace } from '../project/project-path.ts';
import { ToolError } from '../tool-error.ts';
import type { FoundLine, Query } from './query.ts';

/** The query in a form that can be sent to the thread, because an instance of `HiddenFolders` cannot be sent. */
export interface SearchTask extends Omit<Query, 'place'> {
  place: Omit<ProjectPlace, 'hidden'>;
  hiddenFolders: readonly string[];
}

/** A message from the thread to the server. */
export type SearchMessage = { lines: FoundLine[] } | { problem: string } | { done: true };

/** Yields the found lines, by file name. Rejects with ToolError. */
export async function* plainSearch(query: Query, signal: AbortSignal): AsyncGenerator<FoundLine> {
  const { hidden, ...place } = query.place;
  const search: SearchTask = { ...query, place, hiddenFolders: hidden.paths };
  const worker = new Worker(new URL('./plain-search-worker.ts', import.meta.url), {
    workerData: search,
  });
  let waiting = Promise.withResolvers<void>();
  const messages: SearchMessage[] = [];
  const receive = (message: SearchMessage): void => {
    messages.push(message);
    waiting.resolve();
  };
  const stop = (): void => receive({ done: true });
  worker.on('message', receive);
  worker.on('error', (error) => receive({ problem: String(error) }));
  worker.on('exit', stop);
  signal.addEventListener('abort', stop);
  try {
    if (signal.aborted) return;
    for (;;) {
      await waiting.promise;
      waiting = Promise.withResolvers();
      for (const message of messages.splice(0)) {
        if ('problem' in message) throw new ToolError(`The search failed: ${message.problem}`);
        if ('done' in message) return;
        yield* message.lines;
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
