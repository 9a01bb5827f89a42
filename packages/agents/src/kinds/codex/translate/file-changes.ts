import { dirname, isAbsolute, resolve } from 'node:path';
import type { FileDiff, OutputItem } from '@liminal/protocol';
import { parsePatch, type StructuredPatch } from 'diff';
import type { TurnWriter } from '../../../base/turn-writer.ts';

type FileChangesItem = Extract<OutputItem, { type: 'file_changes' }>;

/** A state is shown at once while all shown states have at most this many characters, plus four times the newest's. */
const alwaysShown = 64 * 1024;
const shownTimes = 4;

/**
 * The sum of a thread's file changes in a turn. Codex sends a whole diff in git's format each time, which compares the
 * files that patches touched with the disk.
 */
export class FileChanges {
  readonly #writer: TurnWriter;
  readonly #item: { id: string; parentCallId?: string };
  readonly #cwd: string;
  /** Absolute paths of the files that patches have touched. */
  readonly #touched = new Set<string>();
  #newest: string | undefined;
  /** Characters of all shown states. */
  #shown = 0;

  /** @param cwd - The session's folder. */
  constructor(writer: TurnWriter, item: { id: string; parentCallId?: string }, cwd: string) {
    this.#writer = writer;
    this.#item = item;
    this.#cwd = cwd;
  }

  /** Notes that a patch changes this file. */
  touch(path: string): void {
    this.#touched.add(path);
  }

  /**
   * Reads the newest state; Codex may repeat a state. After many large states, the newest is shown only with the turn's
   * end.
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

  /** Returns the item for a diff. Text that is not a diff is kept in `raw`. */
  #state(diff: string): FileChangesItem {
    const base = { ...this.#item, type: 'file_changes' } as const;
    const files = filesIn(diff);
    if (files === undefined) return { ...base, diffs: [], raw: diff };
    const folder = this.#folderOf(files);
    return { ...base, diffs: files.flatMap((file) => diffsOf(file, folder)) };
  }

  /**
   * Returns the folder to which the diff's names are relative: the git repository's or the session's folder. It is the
   * closest folder in which patches touched all of the names.
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
  /** The new name of a moved file. Absolute if the file is outside of the diff's folder. */
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

/** Returns a diff per hunk. A new or deleted file, and a new or moved file without lines, have one diff. */
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

/** Returns one side of a hunk: all lines except the `other` side's. The last line may be marked as unterminated. */
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
