import { dirname, isAbsolute, resolve } from 'node:path';
import type { FileDiff, OutputItem } from '@liminal/protocol';
import { parsePatch, type StructuredPatch } from 'diff';
import type { TurnWriter } from '../../../base/turn-writer.ts';

type FileChangesItem = Extract<OutputItem, { type: 'file_changes' }>;

/**
 * A new state of the diff is shown at once only while all states shown so far have at most `alwaysShown` characters
 * plus `shownTimes` times the characters of the new state.
 */
const alwaysShown = 64 * 1024;
const shownTimes = 4;

/**
 * The sum of a thread's file changes in a turn. Codex sends the whole diff, in git's format, after each change. For all
 * files that patches touched, the diff compares the state before the patches with the state on the disk.
 */
export class FileChanges {
  readonly #writer: TurnWriter;
  readonly #item: { id: string; parentCallId?: string };
  readonly #cwd: string;
  /** Absolute paths of the files that patches have touched. */
  readonly #touched = new Set<string>();
  #newest: string | undefined;
  /** The number of characters of all states that were shown. */
  #shown = 0;

  /** @param cwd - The session's folder. */
  constructor(writer: TurnWriter, item: { id: string; parentCallId?: string }, cwd: string) {
    this.#writer = writer;
    this.#item = item;
    this.#cwd = cwd;
  }

  /** Records that a patch changes this file. */
  touch(path: string): void {
    this.#touched.add(path);
  }

  /**
   * Reads the newest state of the diff; Codex may repeat a state. After many large states, further states are not shown
   * at once: the turn's end shows the newest.
   */
  read(diff: unknown): void {
    if (typeof diff !== 'string' || diff === this.#newest) return;
    const isFirst = this.#newest === undefined;
    this.#newest = diff;
    if (this.#shown + diff.length > alwaysShown + shownTimes * diff.length) return;
    this.#shown += diff.length;
    if (isFirst) this.#writer.start(this.#state(diff));
    else this.#writer.patch(this.#item.id, { diffs: this.#state(diff).diffs });
  }

  end(): void {
    if (this.#newest !== undefined) this.#writer.done(this.#item.id, this.#state(this.#newest));
  }

  /** Returns the item for a diff. If the text is not a diff, the item keeps the text as `raw`. */
  #state(diff: string): FileChangesItem {
    const base = { ...this.#item, type: 'file_changes' } as const;
    const files = filesIn(diff);
    if (files === undefined) return { ...base, diffs: [], raw: diff };
    const folder = this.#folderOf(files);
    return { ...base, diffs: files.flatMap((file) => diffsOf(file, folder)) };
  }

  /**
   * Returns the folder to which the diff's names are relative: the git repository's folder or the session's folder.
   * Searches upwards from the session's folder, and returns the first folder in which patches touched all files of the
   * diff.
   */
  #folderOf(files: readonly ChangedFile[]): string {
    const isIt = (folder: string) =>
      files.every(({ name }) => this.#touched.has(resolve(folder, name)));
    return foldersUpFrom(this.#cwd).find(isIt) ?? this.#cwd;
  }
}

/** Returns the folder and its parents. */
function foldersUpFrom(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUpFrom(above)];
}

interface ChangedFile {
  /** The new name of a moved file. The name is an absolute path if the file is outside of the diff's folder. */
  name: string;
  isNew: boolean;
  hunks: StructuredPatch['hunks'];
}

/** Returns undefined if the text is not a diff. */
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

/**
 * Returns one diff for each hunk. For a new or deleted file, and for a moved file without changed lines, returns one
 * diff.
 */
function diffsOf({ name, isNew, hunks }: ChangedFile, folder: string): FileDiff[] {
  const path = isAbsolute(name) ? name : resolve(folder, name);
  if (hunks.length === 0)
    return [isNew ? { path, newText: '' } : { path, oldText: '', newText: '' }];
  return hunks.map(({ lines, oldStart, newStart }) => {
    const newText = sideText(lines, '-');
    if (isNew) return { path, newText };
    const oldText = sideText(lines, '+');
    return { path, oldText, newText, oldLine: oldStart, newLine: newStart };
  });
}

/**
 * Returns one side of a hunk: all lines except the lines of the `other` side. A line that begins with a backslash means
 * that the line before it has no line end.
 */
function sideText(lines: readonly string[], other: '+' | '-'): string {
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
