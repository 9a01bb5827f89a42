import type { Scene } from '../script.ts';
import { edit, read, run } from './tools.ts';

const before = `export function parseRange(text: string): Range {
  const [from, to] = text.split('-').map(Number);
  return { from, to: to ?? from };
}
`;

const after = `export function parseRange(text: string): Range {
  const match = /^(\\d+)(?:-(\\d+))?$/.exec(text.trim());
  if (!match) throw new RangeError(\`"\${text}" is not a page range such as 3 or 3-7.\`);
  const from = Number(match[1]);
  const to = match[2] === undefined ? from : Number(match[2]);
  return from <= to ? { from, to } : { from: to, to: from };
}
`;

const testBefore = `  test('takes a single page', () => {
    expect(parseRange('3')).toEqual({ from: 3, to: 3 });
  });
`;

const testAfter = `${testBefore}
  test.each(['', 'a-b', '3-', '-3'])('refuses %j', (text) => {
    expect(() => parseRange(text)).toThrow(RangeError);
  });
`;

export const fix: Scene = {
  name: 'fix',
  description: 'Finds and repairs the cause of a failing test',
  words: ['fix', 'bug'],
  steps: [
    { do: 'say', text: 'Demo, recorded: I’ll run the tests first, to see what fails.\n' },
    run(
      'npm test -- pages',
      'Run the tests of the pages module',
      2_200,
      `
> printer@1.9.2 test
> vitest run pages

 ❯ src/pages/parse-range.test.ts (5 tests | 2 failed) 17ms
   ✓ takes a single page
   ✓ takes a range
   ✓ ignores spaces around it
   × sorts a range that is the wrong way round
     → expected { from: 7, to: 3 } to deeply equal { from: 3, to: 7 }
   × refuses what is no number
     → expected [Function] to throw an error

 Test Files  1 failed (1)
      Tests  2 failed | 3 passed (5)
`,
      { failed: true, exitCode: 1 },
    ),
    read('src/pages/parse-range.ts', 300, before),
    {
      do: 'think',
      text: `Number('abc') is NaN and nothing checks it, so a bad range goes through as { from: NaN, to: NaN }. Splitting at every hyphen also drops a third part without a word. A pattern that takes the whole text settles both, and then the two ends only need to be put in order. Callers in src/cli catch RangeError already, so that is the error to throw.`,
    },
    {
      do: 'say',
      text: 'Both failures have one cause: `parseRange` takes whatever `Number` makes of its parts. I’ll match the whole text instead and put the ends in order.\n',
    },
    edit('src/pages/parse-range.ts', 12, 400, [before, after]),
    edit('src/pages/parse-range.test.ts', 9, 400, [testBefore, testAfter]),
    run(
      'npm test -- pages',
      'Run the tests of the pages module',
      1_900,
      `
> printer@1.9.2 test
> vitest run pages

 ✓ src/pages/parse-range.test.ts (9 tests) 14ms

 Test Files  1 passed (1)
      Tests  9 passed (9)
`,
    ),
    {
      do: 'say',
      text: `All nine pass. What changed in the recording:

- \`parseRange\` takes \`3\` or \`3-7\` and nothing else; anything else is a \`RangeError\` that names the text.
- A range that is the wrong way round is sorted.
- Four more inputs are tested: an empty text, letters, and a range with one end missing.

One thing to know: \`3 - 7\`, with spaces inside, is refused as well. It gave \`{ from: 3, to: 7 }\` before, so if people type it, the pattern should allow it.
`,
    },
  ],
};
