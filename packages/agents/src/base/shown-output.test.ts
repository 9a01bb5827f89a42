import { expect, test } from 'vitest';
import { ShownOutput } from './shown-output.ts';

function show(...parts: string[]): string[] {
  const shown: string[] = [];
  const output = new ShownOutput((text) => void shown.push(text));
  for (const part of parts) output.add(part);
  output.end();
  return shown;
}

const head = 256 * 1024;

test('output is shown as it arrives', () => {
  expect(show('one ', 'two')).toEqual(['one ', 'two']);
});

test('output that is only a little longer than the limit is shown whole: the rest is shown at the end', () => {
  expect(show('a'.repeat(head), 'rest')).toEqual(['a'.repeat(head), 'rest']);
});

test('if output is very long, its beginning, the omitted length and its end are shown', () => {
  const shown = show(...Array.from({ length: 100 }, (_, at) => String(at % 10).repeat(10_000)));
  const text = shown.join('');
  expect(text.startsWith('0'.repeat(10_000))).toBe(true);
  expect(text.endsWith('9'.repeat(10_000))).toBe(true);
  const left = 100 * 10_000 - head - 16 * 1024;
  expect(text).toContain(`\n[${left} characters left out]\n`);
  expect(text.length).toBeLessThan(head + 17 * 1024);
});

test('a character is not split where the output is cut', () => {
  const [faces, small] = ['😀'.repeat(20), { head: 5, tail: 3 }];
  const shown: string[] = [];
  const output = new ShownOutput((text) => void shown.push(text), small);
  for (const part of [faces, faces, 'a']) output.add(part);
  output.end();
  expect(shown).toEqual(['😀😀', '\n[74 characters left out]\n', '😀a']);
});
