import { dirname, isAbsolute, resolve } from 'node:path';
import type { FileDiff, OutputItem } from '@liminal/protocol';
import { parsePatch, type StructuredPatch } from 'diff';
import type { TurnWriter } from '../../base/turn-writer.ts';

type FileChangesItem = Extract<OutputItem, { type: 'file_changes' }>;

/** States are told when they come, up to this many characters in all, and then up to four times the newest one's. */
const alwaysTold = 64 * 1024;
const toldTimes = 4;

/**
 * What a thread has changed in files in a turn, all in all. Codex says it as one diff in git's format, whole each time:
 * the files that patches touched, compared with the disk.
 */
export class FileChanges {
  readonly #writer: TurnWriter;
  readonly #item: { id: string; parentCallId?: string };
  readonly #cwd: string;
  /** Absolute paths of the files that patches have touched. */
  readonly #touched = new Set<string>();
  #newest: string | undefined;
  /** Characters of all told states. */
  #told = 0;

  /** @param cwd - The session's folder. */
  constructor(writer: TurnWriter, item: { id: string; parentCallId?: string }, cwd: string) {
    this.#writer = writer;
    this.#item = item;
    this.#cwd = cwd;
  }

  /** A patch changes this file. */
  touch(path: string): void {
    this.#touched.add(path);
  }

  /** Takes the newest state; Codex says one several times. After many large ones it is told only with the turn's end. */
  read(diff: unknown): void {
    if (typeof diff !== 'string' || diff === this.#newest) return;
    const isFirst = this.#newest === undefined;
    this.#newest = diff;
    if (this.#told + diff.length > alwaysTold + toldTimes * diff.length) return;
    this.#told += diff.length;
    if (isFirst) this.#writer.start(this.#state(diff));
    else this.#writer.patch(this.#item.id, { diffs: this.#state(diff).diffs });
  }

  end(): void {
    if (this.#newest !== undefined) this.#writer.done(this.#item.id, this.#state(this.#newest));
  }

  /** What is no diff is kept as it is. */
  #state(diff: string): FileChangesItem {
    const base = { ...this.#item, type: 'file_changes' } as const;
    const files = filesIn(diff);
    if (files === undefined) return { ...base, diffs: [], raw: diff };
    const folder = this.#folderOf(files);
    return { ...base, diffs: files.flatMap((file) => diffsOf(file, folder)) };
  }

  /**
   * The folder of the diff's names: that of the git repository, or else the session's. It is the closest one in which
   * all of them were touched.
   */
  #folderOf(files: readonly ChangedFile[]): string {
    const isIt = (folder: string) =>
      files.every(({ name }) => this.#touched.has(resolve(folder, name)));
    return foldersUpFrom(this.#cwd).find(isIt) ?? this.#cwd;
  }
}

/** The folder and all that it lies in. */
function foldersUpFrom(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUpFrom(above)];
}

interface ChangedFile {
  /** Of a moved file, the new name. Absolute outside of the folder of the diff. */
  name: string;
  isNew: boolean;
  hunks: StructuredPatch['hunks'];
}

/** Undefined for what is no diff. */
function filesIn(diff: string): ChangedFile[] | undefined {
  try {
    return parsePatch(diff).flatMap((file) => {
      const { oldFileName, newFileName, isCreate = false, isDelete = false, hunks } = file;
      const name = (isDelete ? oldFileName : newFileName)?.replace(/^[ab]\//, '');
      return name === undefined ? [] : [{ name, isNew: isCreate, hunks }];
    });
  } catch {
    return undefined;
  }
}

/** One for each part of a file; a new or deleted file has but one, as one without lines has that was made or moved. */
function diffsOf({ name, isNew, hunks }: ChangedFile, folder: string): FileDiff[] {
  const path = isAbsolute(name) ? name : resolve(folder, name);
  if (hunks.length === 0)
    return [isNew ? { path, newText: '' } : { path, oldText: '', newText: '' }];
  return hunks.map(({ lines, oldStart, newStart }) => {
    const newText = textOf(lines, '-');
    if (isNew) return { path, newText };
    const oldText = textOf(lines, '+');
    return { path, oldText, newText, oldLine: oldStart, newLine: newStart };
  });
}

/** The text of one side of a part: all but the `other` side's lines. Its last line may be marked as not ended. */
function textOf(lines: readonly string[], other: '+' | '-'): string {
  let text = '';
  let isOwn = false;
  for (const line of lines) {
    if (line.startsWith('\\')) {
      if (isOwn) text = text.slice(0, -1);
      continue;
    }
    isOwn = !line.startsWith(other);
    if (isOwn) text += `${line.slice(1)}\n`;
  }
  return text;
}
