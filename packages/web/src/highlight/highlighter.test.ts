import { expect, it } from 'vitest';
import { highlight } from './highlighter.ts';
import { languageOfFile } from './language-of-file.ts';
import { findLanguage } from './languages.ts';

it.each([
  'bat diff dockerfile elixir graphql haskell hcl ini kotlin log lua make nix perl php powershell',
  'protobuf r ruby scala sql svelte swift terraform toml vue xml zig',
])('%s have colours', (names) => {
  for (const name of names.split(' ')) expect([name, findLanguage(name)]).not.toContain(undefined);
});

it('a script that a model writes into its answer has the colours of JavaScript', () => {
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
])('the name of %s tells that it is %s', (path, language) => {
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
