/** The search without ripgrep: in a thread of its own, because a regular expression may take for ever. */
import { Worker } from 'node:worker_threads';
import type { ProjectPlace } from '../project/project-path.ts';
import { ToolError } from '../tool-error.ts';
import type { FoundLine, Query } from './query.ts';

/** The query as a message to the thread: an instance of `HiddenFolders` cannot be sent. */
export interface Search extends Omit<Query, 'place'> {
  place: Omit<ProjectPlace, 'hidden'>;
  hiddenFolders: readonly string[];
}

/** A message of the thread. */
export type FromWorker = { lines: FoundLine[] } | { problem: string } | { done: true };

/** The lines found, by file name. Rejects with ToolError. */
export async function* plainSearch(query: Query, signal: AbortSignal): AsyncGenerator<FoundLine> {
  const { hidden, ...place } = query.place;
  const search: Search = { ...query, place, hiddenFolders: hidden.paths };
  const worker = new Worker(new URL('./plain-search-worker.ts', import.meta.url), {
    workerData: search,
  });
  let waiting = Promise.withResolvers<void>();
  const said: FromWorker[] = [];
  const tell = (word: FromWorker): void => {
    said.push(word);
    waiting.resolve();
  };
  const stop = (): void => tell({ done: true });
  worker.on('message', tell);
  worker.on('error', (error) => tell({ problem: String(error) }));
  worker.on('exit', stop);
  signal.addEventListener('abort', stop);
  try {
    if (signal.aborted) return;
    for (;;) {
      await waiting.promise;
      waiting = Promise.withResolvers();
      for (const word of said.splice(0)) {
        if ('problem' in word) throw new ToolError(`The search failed: ${word.problem}`);
        if ('done' in word) return;
        yield* word.lines;
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
