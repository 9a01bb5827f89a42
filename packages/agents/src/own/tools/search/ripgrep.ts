/**
 * Searches with ripgrep. The lines that ripgrep reports are read again from the files themselves, which are opened in a
 * way that follows no link out of the project.
 */
import { headOf } from '@liminal/protocol';
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { findProgram } from '../../../base/find-program.ts';
import { processMark } from '../../../process/index.ts';
import { openFile, openFolder, type OpenFile } from '../project/project-path.ts';
import { ToolError } from '../tool-error.ts';
import { maxFileBytes, maxLineBytes, type FoundLine, type Query } from './query.ts';

/** The longest record in ripgrep's output that is read completely, in bytes. */
const maxRecordBytes = 1024 * 1024;
/** The most characters of ripgrep's error output that are kept. */
const maxErrorOutput = 2_000;

/**
 * Returns the path of ripgrep: the ripgrep of `@vscode/ripgrep`, or else the user's own ripgrep; undefined if there is
 * no ripgrep. `@vscode/ripgrep` has ripgrep in npm packages, one for each platform, and downloads nothing during the
 * installation.
 * @param loadDependency - For tests: returns the dependency's path.
 */
export async function findRipgrep(
  searchPath: string | undefined,
  loadDependency: () => Promise<{ rgPath: string }> = () => import('@vscode/ripgrep'),
): Promise<string | undefined> {
  try {
    const { rgPath } = await loadDependency();
    await access(rgPath, constants.X_OK);
    return rgPath;
  } catch {
    return findProgram('rg', searchPath);
  }
}

/** Yields the found lines, by file name. Rejects with a ToolError that has ripgrep's own message. */
export async function* ripgrep(
  program: string,
  query: Query,
  signal: AbortSignal,
): AsyncGenerator<FoundLine> {
  const { place } = query;
  if (query.isFile) {
    const file = await openFile(place);
    try {
      const records = runRipgrep(program, [...args(query), '-'], { input: file.handle.fd }, signal);
      for await (const record of records) yield* verifiedLines(record, place.name, file);
    } finally {
      await file.handle.close();
    }
    return;
  }
  const folder = await openFolder(place);
  const files = new OneFile(query);
  try {
    for await (const record of runRipgrep(
      program,
      [...args(query), './'],
      { cwd: folder.path },
      signal,
    )) {
      const name = join(place.name, record.path);
      yield* verifiedLines(record, name, await files.open(name));
    }
  } finally {
    await files.close();
    await folder.close();
  }
}

const args = ({ pattern, glob, ignoreCase, context }: Query): string[] => [
  '--no-config',
  '--json',
  '--no-require-git',
  // Without a conversion of encodings, ripgrep's offsets are those of the file's own bytes.
  '--encoding=none',
  '--sort=path',
  `--max-filesize=${maxFileBytes}`,
  `--context=${context}`,
  ...(ignoreCase ? ['--ignore-case'] : []),
  ...(glob === undefined ? [] : [`--glob=${glob}`]),
  `--regexp=${pattern}`,
  '--',
];

/** Holds open the file of the last line. */
class OneFile {
  readonly #query: Query;
  #name = '';
  #file: OpenFile | undefined;

  constructor(query: Query) {
    this.#query = query;
  }

  /** Returns the open file; undefined if it does not exist, or cannot be opened in the project. */
  async open(name: string): Promise<OpenFile | undefined> {
    if (name === this.#name) return this.#file;
    await this.close();
    this.#name = name;
    const { place } = this.#query;
    const found = { ...place, asked: name, real: join(place.root, name), name };
    this.#file = await openFile(found).catch((error: unknown) => {
      if (error instanceof ToolError) return undefined;
      throw error;
    });
    return this.#file;
  }

  async close(): Promise<void> {
    await this.#file?.handle.close();
    this.#file = undefined;
  }
}

interface RipgrepRecord {
  path: string;
  isMatch: boolean;
  /** The position and bytes of the line; absent if the record was too long. */
  at?: { line: number; offset: number; bytes: Buffer };
}

/**
 * Yields a line only if the file in the project contains it. ripgrep follows a link that replaces a file during the
 * search, so each line is checked.
 */
async function* verifiedLines(
  { isMatch, at }: RipgrepRecord,
  name: string,
  file: OpenFile | undefined,
): AsyncGenerator<FoundLine> {
  if (file === undefined) return;
  if (at === undefined) {
    yield { name, line: undefined, isMatch, text: '(a line that is too long to show)' };
    return;
  }
  const length = Math.min(at.bytes.length, maxLineBytes);
  const { buffer } = await file.handle.read(Buffer.alloc(length), 0, length, at.offset);
  if (!buffer.equals(at.bytes.subarray(0, length))) return;
  yield { name, line: at.line, isMatch, text: buffer.toString('utf8').replace(/\r?\n?$/, '') };
}

async function* runRipgrep(
  program: string,
  args: readonly string[],
  { cwd = '/', input }: { cwd?: string; input?: number },
  signal: AbortSignal,
): AsyncGenerator<RipgrepRecord> {
  const child = spawn(program, [...args], {
    cwd,
    // The process mark makes sure that ripgrep ends when the server ends.
    env: { LC_ALL: 'C.UTF-8', ...processMark('tools').env },
    stdio: [input ?? 'ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  }) as ChildProcessByStdio<null, Readable, Readable>;
  const closed = exitCodeOf(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = headOf(errors + text, maxErrorOutput);
  });
  let isEmpty = true;
  try {
    for await (const found of records(child.stdout)) {
      isEmpty = false;
      yield found;
    }
    const code = await closed;
    if (code !== 0 && code !== 1 && isEmpty && !signal.aborted) {
      throw new ToolError(`The search failed: ${errors.trim() || `ripgrep ended with ${code}`}`);
    }
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
}

/** Resolves when ripgrep has ended: with its exit code, or with the reason why it could not be started. */
function exitCodeOf(child: ChildProcess): Promise<number | string | null> {
  return new Promise((resolve) => {
    child.once('close', resolve);
    child.on('error', (error) => {
      // Stopping the process also emits `error`; the exit follows later.
      if (child.pid === undefined) resolve(String(error));
    });
  });
}

async function* records(output: Readable): AsyncGenerator<RipgrepRecord> {
  let chunks: Buffer[] = [];
  let length = 0;
  const take = (): RipgrepRecord | undefined => {
    const record = Buffer.concat(chunks);
    const found = length > maxRecordBytes ? readStart(record) : readRecord(record);
    chunks = [];
    length = 0;
    return found;
  };
  for await (const chunk of output as AsyncIterable<Buffer>) {
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(10, from);
      const part = chunk.subarray(from, end < 0 ? chunk.length : end);
      length += part.length;
      // Keep the beginning of a record that is too long, because it contains the file's name.
      if (length <= maxRecordBytes) chunks.push(part);
      if (end < 0) break;
      const found = take();
      if (found !== undefined) yield found;
      from = end + 1;
    }
  }
}

const Text = z.union([z.object({ text: z.string() }), z.object({ bytes: z.base64() })]);
const LineRecord = z.object({
  type: z.enum(['match', 'context']),
  data: z.object({
    path: z.object({ text: z.string() }),
    lines: Text,
    line_number: z.number(),
    absolute_offset: z.number(),
  }),
});

/** Parses a record; undefined if the record is not about a line, or if the file's name is not text. */
function readRecord(json: Buffer): RipgrepRecord | undefined {
  const { success, data: record } = LineRecord.safeParse(JSON.parse(json.toString('utf8')));
  if (!success) return undefined;
  const { path, lines, line_number: line, absolute_offset: offset } = record.data;
  const bytes = 'text' in lines ? Buffer.from(lines.text) : Buffer.from(lines.bytes, 'base64');
  return { path: path.text, isMatch: record.type === 'match', at: { line, offset, bytes } };
}

/** Reads the file's name from the beginning of a record that is too long. */
function readStart(json: Buffer): RipgrepRecord | undefined {
  const start = /^\{"type":"(match|context)","data":\{"path":\{"text":("(?:[^"\\]|\\.)*")\}/;
  const [, type, path] = start.exec(json.toString('utf8', 0, 64 * 1024)) ?? [];
  if (path === undefined) return undefined;
  return { path: z.string().parse(JSON.parse(path)), isMatch: type === 'match' };
}
