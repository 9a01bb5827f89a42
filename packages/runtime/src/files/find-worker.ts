/** Runs in its own thread: see `file-finder.ts`. */
import { defaultBounds } from './bounds.ts';
import { FileIndexes } from './file-indexes.ts';
import { listFiles } from './list-files.ts';

export interface Sought {
  /** A real path. */
  folder: string;
  /** Folders whose files must not be shown; their paths are relative to `folder` and end with a slash. */
  hidden: readonly string[];
  query: string;
  limit: number;
}

export interface FoundPaths {
  /** Relative to the folder. */
  paths: string[];
  /** Whether the whole folder was searched. */
  isWhole: boolean;
}

const ending = new AbortController();
const indexes = new FileIndexes(() => performance.now());

export async function find({ folder, hidden, query, limit }: Sought): Promise<FoundPaths> {
  const list = async () => listFiles(folder, hidden, defaultBounds, ending.signal);
  const index = await indexes.of(folder, list);
  return { paths: index.find(query, limit), isWhole: index.isWhole };
}

/** Ends the started programs. */
export function end(): void {
  ending.abort();
}
