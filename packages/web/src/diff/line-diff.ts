import { structuredPatch } from 'diff';
import type { FileDiff } from '@liminal/protocol';

/** A line of a diff; `gap` stands for omitted unchanged lines. */
export interface DiffLine {
  kind: 'added' | 'removed' | 'same' | 'gap';
  text: string;
  /** Line numbers, from 1, on the side or sides that have the line. */
  oldLine?: number;
  newLine?: number;
}

export interface LineDiff {
  path: string;
  lines: readonly DiffLine[];
  added: number;
  removed: number;
}

/** Unchanged lines around a change. */
const context = 3;

/**
 * Beyond this many lines, or changed lines, a real comparison takes too long for a page: everything is shown as
 * replaced. 10,000 changed lines took ten seconds.
 */
const comparable = { lines: 20_000, changes: 1000 };

const known = new WeakMap<FileDiff, LineDiff>();

/** One file's change as lines. Computed once per diff object. */
export function lineDiff(diff: FileDiff): LineDiff {
  const cached = known.get(diff);
  if (cached !== undefined) return cached;
  const lines = compare(diff.oldText ?? '', diff.newText);
  const made = {
    path: diff.path,
    lines,
    added: lines.filter((line) => line.kind === 'added').length,
    removed: lines.filter((line) => line.kind === 'removed').length,
  };
  known.set(diff, made);
  return made;
}

function compare(before: string, after: string): DiffLine[] {
  if (before === '') return splitLines(after).map((text, at) => added(text, at + 1));
  if (splitLines(before).length + splitLines(after).length > comparable.lines) {
    return replaced(before, after);
  }
  const patch = structuredPatch('', '', endLine(before), endLine(after), '', '', {
    context,
    maxEditLength: comparable.changes,
  });
  if (patch === undefined) return replaced(before, after);
  return patch.hunks.flatMap((hunk, index) => [
    ...(index === 0 ? [] : [{ kind: 'gap', text: '' } as const]),
    ...hunkLines(hunk),
  ]);
}

function replaced(before: string, after: string): DiffLine[] {
  return [
    ...splitLines(before).map((text, at) => removed(text, at + 1)),
    ...splitLines(after).map((text, at) => added(text, at + 1)),
  ];
}

interface Hunk {
  oldStart: number;
  newStart: number;
  lines: string[];
}

function hunkLines(hunk: Hunk): DiffLine[] {
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

/** A missing newline at the end is no change worth showing. */
function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function splitLines(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Lines added and removed over several files. */
export function totalChange(diffs: readonly FileDiff[]): { added: number; removed: number } {
  const all = diffs.map(lineDiff);
  return {
    added: all.reduce((sum, diff) => sum + diff.added, 0),
    removed: all.reduce((sum, diff) => sum + diff.removed, 0),
  };
}
