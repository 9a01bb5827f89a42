import { expect, it, vi } from 'vitest';
import { highlight } from './highlighter.ts';
import { languageOfFile } from './language-of-file.ts';
import { findLanguage } from './languages.ts';

it.each([
  'bat diff dockerfile elixir graphql haskell hcl ini kotlin log lua make nix perl php powershell',
  'protobuf r ruby scala sql svelte swift terraform toml vue xml zig',
])('the languages %s have colours', (names) => {
  for (const name of names.split(' ')) expect([name, findLanguage(name)]).not.toContain(undefined);
});

it('a script in a model’s answer has the colours of JavaScript', () => {
  expect(findLanguage('liminal-script')?.id).toBe('javascript');
});

it.each([
  ['Dockerfile', 'docker'],
  ['src/Makefile', 'make'],
  ['a.CC', 'cpp'],
  ['main.tf', 'terraform'],
  ['a/b.ex', 'elixir'],
  ['.env', 'dotenv'],
  ['CMakeLists.txt', 'cmake'],
  ['notes.txt', undefined],
  ['LICENSE', undefined],
])('the file name %s identifies the language %s', (path, language) => {
  expect(findLanguage(languageOfFile(path))?.id).toBe(language);
});

it.each(['terraform', 'svelte', 'proto', 'zig', 'log', 'powershell', 'dotenv'])(
  'the colours of %s load, without WebAssembly',
  async (language) => {
    const lines = await highlight('a = 1\n', language);
    expect(lines?.[0]?.map((token) => token.content).join('')).toBe('a = 1');
  },
);

it.each(['', 'text', 'constructor', '__proto__', 'no such language'])(
  'there are no colours for “%s”',
  async (name) => {
    expect(await highlight('a = 1', name)).toBeUndefined();
  },
);

it('even on a slow machine, the first line in a language gets the same colours as later lines', async () => {
  const line = 'import { readFileSync } from "node:fs"; // read';
  let time = 0;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (time += 1_000));
  const lines = await highlight(`${line}\n${line}`, 'tsx');
  clock.mockRestore();
  const pieces = (at: number) => lines?.[at]?.map(({ content, css }) => [content, css]);
  expect(pieces(0)?.length).toBeGreaterThan(4);
  expect(pieces(0)).toEqual(pieces(1));
});

/** Returns the relative luminance of WCAG 2. */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

it.each([
  ['tsx', '// a\nconst A: Map<string, B> = new Map([[`${a}`, /b+/g]]);\n<A b="c" {...d} />;'],
  ['python', '@a\ndef f(self, x=1):\n  """text"""\n  return f"{x!r}"  # why'],
  ['diff', '--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new'],
  ['css', '.a:hover > b { --c: 1px; color: red !important; }'],
  ['html', '<a href="b">c</a><!-- d -->'],
  ['yaml', 'a: &b\n  - "c" # d'],
  ['markdown', '# A\n**b** `c` [d](e)'],
])(
  'every colour of %s can be read on the background of code (contrast of level AA)',
  async (language, code) => {
    const lines = (await highlight(code, language)) ?? [];
    const pairs = lines
      .flat()
      .map(({ css }) => /\bcolor: light-dark\((#\w{6})\w*, (#\w{6})\w*\)/.exec(css));
    expect(pairs.filter((pair) => pair !== null).length).toBeGreaterThan(0);
    for (const pair of pairs) {
      if (pair === null) continue;
      // --sunken
      for (const [colour, ground] of [
        [pair[1]!, '#f6f6f7'],
        [pair[2]!, '#17181a'],
      ] as const) {
        const [lighter, darker] = [luminance(colour), luminance(ground)].toSorted((a, b) => b - a);
        expect((lighter! + 0.05) / (darker! + 0.05), colour).toBeGreaterThanOrEqual(4.5);
      }
    }
  },
);
