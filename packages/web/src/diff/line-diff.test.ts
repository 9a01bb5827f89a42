import { cpuMsOf } from '@liminal/testkit/cpu-time';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hunksDiff, lineDiff, totalChange } from './line-diff.ts';

const diff = (oldText: string | undefined, newText: string) => ({ path: 'a.ts', oldText, newText });

it('a change is shown with the lines around it', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
  const made = lineDiff(diff(lines.join('\n'), lines.with(9, 'changed').join('\n')));
  expect(
    made.lines.map(({ kind, text, oldLine, newLine }) => [kind, text, oldLine, newLine]),
  ).toEqual([
    ['same', 'line 7', 7, 7],
    ['same', 'line 8', 8, 8],
    ['same', 'line 9', 9, 9],
    ['removed', 'line 10', 10, undefined],
    ['added', 'changed', undefined, 10],
    ['same', 'line 11', 11, 11],
    ['same', 'line 12', 12, 12],
    ['same', 'line 13', 13, 13],
  ]);
  expect(made).toMatchObject({ added: 1, removed: 1 });
});

it('lines have their numbers in the file if the agent reports the first line’s number', () => {
  const part = { ...diff('a\nb\n', 'a\nB\nc\n'), oldLine: 41, newLine: 51 };
  const numbers = (of: typeof part | ReturnType<typeof diff>) =>
    lineDiff(of).lines.map(({ kind, number }) => [kind, number]);
  expect(numbers(part)).toEqual([
    ['same', 51],
    ['removed', 42],
    ['added', 52],
    ['added', 53],
  ]);
  expect(numbers(diff(undefined, 'a\nb\n'))).toEqual([
    ['added', 1],
    ['added', 2],
  ]);
  expect(numbers(diff('a\n', 'b\n'))).toEqual([
    ['removed', undefined],
    ['added', undefined],
  ]);
});

it('hunks keep their line numbers, and the text that is coloured contains every shown line', () => {
  const hunks = [
    { oldStart: 10, newStart: 12, lines: [' a', '-b', '+B'] },
    { oldStart: 30, newStart: 32, lines: ['+c', ' d', String.raw`\ No newline at end of file`] },
  ];
  const made = hunksDiff({ path: 'a.ts', change: 'modified', added: 2, removed: 1, hunks });
  expect(made.lines.map(({ kind, text, number }) => [kind, text, number])).toEqual([
    ['same', 'a', 12],
    ['removed', 'b', 11],
    ['added', 'B', 13],
    ['gap', '', undefined],
    ['added', 'c', 32],
    ['same', 'd', 33],
  ]);
  const [before, after] = [made.before.split('\n'), made.after.split('\n')];
  for (const { text, oldLine, newLine } of made.lines) {
    const there = [
      oldLine === undefined ? text : before[oldLine - 1],
      newLine === undefined ? text : after[newLine - 1],
    ];
    expect(there).toEqual([text, text]);
  }
  expect([before, after]).toEqual([
    ['a', 'b', 'd'],
    ['a', 'B', 'c', 'd'],
  ]);
});

it('changes that are far apart have a gap between them', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const made = lineDiff(diff(lines.join('\n'), lines.with(2, 'a').with(25, 'b').join('\n')));
  expect(made.lines.filter((line) => line.kind === 'gap')).toHaveLength(1);
});

it('all lines of a new file are shown as added, and all lines of an emptied file as removed', () => {
  expect(lineDiff(diff(undefined, 'a\nb\n'))).toMatchObject({ added: 2, removed: 0 });
  expect(lineDiff(diff('a\nb\n', ''))).toMatchObject({ added: 0, removed: 2 });
});

it('a newline at the end of the file is not a change', () => {
  expect(lineDiff(diff('a', 'a\n')).lines).toEqual([]);
});

it('if a file has too many changes, all of it is shown as replaced, without a long computation', () => {
  const text = (word: string) => Array.from({ length: 9900 }, (_, n) => `${word} ${n}`).join('\n');
  const [before, after] = [text('old'), text('new')];
  let made: ReturnType<typeof lineDiff> | undefined;
  expect(cpuMsOf(() => void (made = lineDiff(diff(before, after))))).toBeLessThan(1000);
  expect(made).toMatchObject({ added: 9900, removed: 9900 });
});

it('totalChange adds up the changed lines of several files', () => {
  expect(totalChange([diff('a', 'b'), diff(undefined, 'c\nd')])).toEqual({ added: 3, removed: 1 });
});

it('the diff of the same change is computed only once', () => {
  const one = diff('a', 'b');
  expect(lineDiff(one)).toBe(lineDiff(one));
});

it('every shown line has its number in the file', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    .map((l) => l.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const [old, now] = [before.split('\n'), after.split('\n')];
      for (const line of lineDiff(diff(before, after)).lines) {
        const there = [
          line.oldLine === undefined ? line.text : old[line.oldLine - 1],
          line.newLine === undefined ? line.text : now[line.newLine - 1],
        ];
        expect(there).toEqual([line.text, line.text]);
      }
    }),
  );
});
