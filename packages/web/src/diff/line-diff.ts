import { structuredPatch } from 'diff';
import type { ChangedFile, DiffHunk, FileDiff } from '@liminal/protocol';

/** A line of a diff; a line of the kind `gap` replaces omitted unchanged lines. */
export interface DiffLine {
  kind: 'added' | 'removed' | 'same' | 'gap';
  text: string;
  /**
   * The line's number, from 1, in the compared text before (`oldLine`) and after the change (`newLine`); absent for the
   * text that does not contain the line.
   */
  oldLine?: number;
  newLine?: number;
  /** The line's number in the file, if it is known: in the new file, or, for a removed line, in the old file. */
  number?: number | undefined;
}

export interface LineDiff {
  path: string;
  /** The text before the change. Both texts may be parts of files. */
  before: string;
  after: string;
  lines: readonly DiffLine[];
  added: number;
  removed: number;
}

/** The number of unchanged lines that are shown around a change. */
const context = 3;

/**
 * If a file has more lines or changed lines than this, a real comparison takes too long for a page, and the whole text
 * is shown as replaced. 10,000 changed lines took ten seconds.
 */
const comparable = { lines: 20_000, changes: 1000 };

const known = new WeakMap<FileDiff, LineDiff>();

/** Returns one file's change as lines. The change is computed once per diff object. */
export function lineDiff(diff: FileDiff): LineDiff {
  const cached = known.get(diff);
  if (cached !== undefined) return cached;
  const [before, after] = [diff.oldText ?? '', diff.newText];
  const lines = compareTexts(before, after).map((line) => ({
    ...line,
    number: numberOf(line, diff),
  }));
  const made = {
    path: diff.path,
    before,
    after,
    lines,
    added: lines.filter((line) => line.kind === 'added').length,
    removed: lines.filter((line) => line.kind === 'removed').length,
  };
  known.set(diff, made);
  return made;
}

/** Returns the line's number in the file, computed from the diff's start. A new file starts at line 1. */
function numberOf({ oldLine, newLine }: DiffLine, diff: FileDiff): number | undefined {
  const newFirst = diff.newLine ?? (diff.oldText == null ? 1 : undefined);
  const [line, first] = newLine === undefined ? [oldLine, diff.oldLine] : [newLine, newFirst];
  return line === undefined || first === undefined ? undefined : first + line - 1;
}

/** Returns the change of a file from the hunks that the server computed. */
export function hunksDiff({ path, hunks, added = 0, removed = 0 }: ChangedFile): LineDiff {
  const lines: DiffLine[] = [];
  const texts = { before: [] as string[], after: [] as string[] };
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0) lines.push({ kind: 'gap', text: '' });
    const [oldFirst, newFirst] = [texts.before.length + 1, texts.after.length + 1];
    for (const line of hunkLines(hunk)) {
      const { oldLine, newLine, text } = line;
      if (oldLine !== undefined) texts.before.push(text);
      if (newLine !== undefined) texts.after.push(text);
      lines.push({
        ...line,
        number: newLine ?? oldLine,
        ...(oldLine !== undefined && { oldLine: oldLine - hunk.oldStart + oldFirst }),
        ...(newLine !== undefined && { newLine: newLine - hunk.newStart + newFirst }),
      });
    }
  }
  const [before, after] = [texts.before.join('\n'), texts.after.join('\n')];
  return { path, before, after, lines, added, removed };
}

function compareTexts(before: string, after: string): DiffLine[] {
  if (before === '') return splitLines(after).map((text, at) => added(text, at + 1));
  if (splitLines(before).length + splitLines(after).length > comparable.lines) {
    return replacementLines(before, after);
  }
  const patch = structuredPatch('', '', endLine(before), endLine(after), '', '', {
    context,
    maxEditLength: comparable.changes,
  });
  if (patch === undefined) return replacementLines(before, after);
  return patch.hunks.flatMap((hunk, index) => [
    ...(index === 0 ? [] : [{ kind: 'gap', text: '' } as const]),
    ...hunkLines(hunk),
  ]);
}

function replacementLines(before: string, after: string): DiffLine[] {
  return [
    ...splitLines(before).map((text, at) => removed(text, at + 1)),
    ...splitLines(after).map((text, at) => added(text, at + 1)),
  ];
}

function hunkLines(hunk: DiffHunk): DiffLine[] {
  let oldLine = hunk.oldStart;
  let newLine = hunk.newStart;
  return hunk.lines.flatMap((line): DiffLine[] => {
    const text = line.slice(1);
    switch (line[0]) {
      case '+':
        return [added(text, newLine++)];
      case '-':
        return [removed(text, oldLine++)];
      case ' ':
        return [{ kind: 'same', text, oldLine: oldLine++, newLine: newLine++ }];
      default:
        return [];
    }
  });
}

function added(text: string, newLine: number): DiffLine {
  return { kind: 'added', text, newLine };
}

function removed(text: string, oldLine: number): DiffLine {
  return { kind: 'removed', text, oldLine };
}

/** Adds a missing newline at the end of a text, so that the missing newline is not shown as a change. */
function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function splitLines(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Returns how many lines were added and removed in several files. */
export function totalChange(diffs: readonly FileDiff[]): { added: number; removed: number } {
  const all = diffs.map(lineDiff);
  return {
    added: all.reduce((sum, diff) => sum + diff.added, 0),
    removed: all.reduce((sum, diff) => sum + diff.removed, 0),
  };
}
