import type { ChangedFile, DiffHunk } from '@liminal/protocol';
import { structuredPatch } from 'diff';

export interface Sides {
  before: string;
  after: string;
}

export interface HunkBounds {
  /** The most lines shown of a file, and of all files. */
  lines: number;
  allLines: number;
  /** The most characters of the lines of all files. */
  allCharacters: number;
}

export const hunkBounds: HunkBounds = {
  lines: 2_000,
  allLines: 20_000,
  allCharacters: 4 * 1024 * 1024,
};

export type FileHunks = Pick<ChangedFile, 'hunks' | 'added' | 'removed' | 'isCut' | 'unshown'>;

/** Unchanged lines around a change. */
const context = 3;
/**
 * If a file has more lines or more changed lines than this, a comparison would take too long: the whole file is then
 * shown as replaced.
 */
const comparable = { lines: 20_000, changes: 1_000 };

/** Makes the hunks of files, one file after another. Files beyond the limits are only marked as not shown. */
export function makeHunks(files: readonly Sides[], bounds = hunkBounds): FileHunks[] {
  let [lines, characters] = [0, 0];
  return files.map((sides) => {
    if (lines >= bounds.allLines || characters >= bounds.allCharacters) {
      return { hunks: [], unshown: 'limit' };
    }
    const allHunks = diffLines(sides);
    const all = allHunks.flatMap((hunk) => hunk.lines);
    const room = Math.min(bounds.lines, bounds.allLines - lines);
    const hunks = firstLines(allHunks, room, bounds.allCharacters - characters);
    const shown = hunks.flatMap((hunk) => hunk.lines);
    lines += shown.length;
    characters += shown.reduce((sum, line) => sum + line.length, 0);
    return {
      hunks,
      added: all.filter((line) => line.startsWith('+')).length,
      removed: all.filter((line) => line.startsWith('-')).length,
      ...(shown.length < all.length && { isCut: true }),
    };
  });
}

function diffLines({ before, after }: Sides): DiffHunk[] {
  const isLong = countLines(before) + countLines(after) > comparable.lines;
  const patch =
    isLong || before === '' || after === ''
      ? undefined
      : structuredPatch('', '', before, after, '', '', {
          context,
          maxEditLength: comparable.changes,
        });
  return patch === undefined
    ? replacementHunks(before, after)
    : patch.hunks.map(({ oldStart, newStart, lines }) => ({ oldStart, newStart, lines }));
}

function replacementHunks(before: string, after: string): DiffHunk[] {
  const lines = [...signed('-', before), ...signed('+', after)];
  return lines.length === 0 ? [] : [{ oldStart: 1, newStart: 1, lines }];
}

function signed(sign: '-' | '+', text: string): string[] {
  if (text === '') return [];
  const lines = text.replace(/\n$/, '').split('\n');
  const ended = text.endsWith('\n') ? [] : [noLineEnd];
  return [...lines.map((line) => sign + line), ...ended];
}

/** The lines in the form of a patch. */
const noLineEnd = '\\ No newline at end of file';

const countLines = (text: string): number => text.split('\n').length;

/** Returns the first hunks, up to a number of lines and of characters. */
function firstLines(hunks: readonly DiffHunk[], lines: number, characters: number): DiffHunk[] {
  let [left, leftCharacters] = [lines, characters];
  return hunks.flatMap((hunk) => {
    const end = hunk.lines.findIndex((line) => {
      left -= 1;
      leftCharacters -= line.length;
      return left < 0 || leftCharacters < 0;
    });
    const shown = end === -1 ? hunk.lines : hunk.lines.slice(0, end);
    return shown.length === 0 ? [] : [{ ...hunk, lines: shown }];
  });
}
