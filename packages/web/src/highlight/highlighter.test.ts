import { expect, it } from 'vitest';
import { highlight } from './highlighter.ts';
import { knownLanguage, languageOfFile } from './languages.ts';

it.each([
  'bat diff dockerfile elixir graphql haskell hcl ini kotlin log lua make nix perl php powershell',
  'protobuf r ruby scala sql svelte swift terraform toml vue xml zig',
])('%s have colours', (names) => {
  for (const name of names.split(' ')) expect([name, knownLanguage(name)]).not.toContain(undefined);
});

it.each([
  ['Dockerfile', 'docker'],
  ['src/Makefile', 'make'],
  ['main.tf', 'terraform'],
  ['a/b.ex', 'elixir'],
  ['.env', 'dotenv'],
  ['CMakeLists.txt', 'cmake'],
  ['notes.txt', undefined],
  ['LICENSE', undefined],
])('the file name %s means %s', (path, language) => {
  expect(languageOfFile(path)).toBe(language);
});

it.each(['terraform', 'svelte', 'proto', 'zig', 'log', 'powershell', 'dotenv'] as const)(
  'the colours of %s load, without WebAssembly',
  async (language) => {
    const lines = await highlight('a = 1\n', language);
    expect(lines[0]?.map((token) => token.content).join('')).toBe('a = 1');
  },
);
