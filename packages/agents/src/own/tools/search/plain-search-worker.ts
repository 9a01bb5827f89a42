import { isUtf8 } from 'node:buffer';
import { basename, join, matchesGlob, relative } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { HiddenFolders } from '../../../base/hidden-folders.ts';
import { openFile, type ProjectPlace } from '../project/project-path.ts';
import { walk } from '../project/walk.ts';
import { ToolError } from '../tool-error.ts';
import type { SearchMessage, SearchTask } from './plain-search.ts';
import { maxLineBytes, type FoundLine, type Query } from './query.ts';

/** The largest file that is searched without ripgrep, in bytes, because the file is read completely. */
const maxBytes = 16 * 1024 * 1024;

const { hiddenFolders, ...search } = workerData as SearchTask;
const query: Query = {
  ...search,
  place: { ...search.place, hidden: new HiddenFolders(hiddenFolders) },
};
const send = (message: SearchMessage): void => parentPort?.postMessage(message);

try {
  const expression = new RegExp(query.pattern, query.ignoreCase ? 'iu' : 'u');
  for await (const place of places(query)) {
    const lines = matchesIn(await readSearchable(place), place.name, expression);
    if (lines.length > 0) send({ lines });
  }
  send({ done: true });
} catch (error) {
  // Loading `messageOf` of the protocol package would take longer than the search.
  send({ problem: error instanceof Error ? error.message : String(error) });
}

async function* places({ place, isFile, glob }: Query): AsyncGenerator<ProjectPlace> {
  if (isFile) {
    yield place;
    return;
  }
  const all = { depth: Number.POSITIVE_INFINITY, hidden: false, ignored: true };
  for await (const { name, kind, isIgnored } of walk(place, all)) {
    if (kind !== 'file') continue;
    // A glob that matches a file has precedence over .gitignore, as in ripgrep.
    const isWanted = glob === undefined ? !isIgnored : matches(glob, relative(place.name, name));
    if (isWanted) yield { ...place, asked: name, real: join(place.root, name), name };
  }
}

function matches(glob: string, name: string): boolean {
  if (glob.startsWith('!')) return !matches(glob.slice(1), name);
  const subject = glob.includes('/') ? name : basename(name);
  return matchesGlob(subject, glob.replace(/^\//, ''));
}

/** Returns the file's text; empty if the file cannot be searched. */
async function readSearchable(place: ProjectPlace): Promise<string> {
  try {
    const { handle, stat } = await openFile(place);
    try {
      const bytes = stat.size > maxBytes ? Buffer.alloc(0) : await handle.readFile();
      return bytes.includes(0) || !isUtf8(bytes) ? '' : bytes.toString('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ToolError) return '';
    throw error;
  }
}

function matchesIn(text: string, name: string, expression: RegExp): FoundLine[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const matching = new Set<number>();
  const near = new Set<number>();
  for (const [at, line] of lines.entries()) {
    if (!expression.test(line)) continue;
    matching.add(at);
    for (let beside = at - query.context; beside <= at + query.context; beside += 1)
      near.add(beside);
  }
  return [...near]
    .filter((at) => at >= 0 && at < lines.length)
    .toSorted((a, b) => a - b)
    .map((at) => ({
      name,
      line: at + 1,
      isMatch: matching.has(at),
      text: (lines[at] ?? '').slice(0, maxLineBytes).replace(/\r$/, ''),
    }));
}
