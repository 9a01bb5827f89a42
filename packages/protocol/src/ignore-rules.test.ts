import { expect, test } from 'vitest';
import { IgnoreRules } from './ignore-rules.ts';

/** Rules that ignore some paths of a folder, and explicitly do not ignore others. */
const rules = (ignored: string[], unignored: string[] = []) => ({
  test: (path: string) => ({
    ignored: ignored.includes(path),
    unignored: unignored.includes(path),
  }),
});

test('the rules of the nearest folder that match a path decide', () => {
  const all = new IgnoreRules();
  all.add('', rules(['a/b/', 'a/b/c.txt', 'a/d.txt', 'e.txt']));
  all.add('a/', rules(['x.txt'], ['b/c.txt']));
  expect(all.ignores('e.txt')).toBe(true);
  expect(all.ignores('f.txt')).toBe(false);
  expect(all.ignores('a/d.txt')).toBe(true);
  expect(all.ignores('a/x.txt')).toBe(true);
  expect(all.ignores('a/b/c.txt')).toBe(false);
});

test('the rules in a folder do not apply to the folder itself', () => {
  const all = new IgnoreRules();
  all.add('a/', rules(['', 'a/', 'b/']));
  expect(all.ignores('a/')).toBe(false);
  expect(all.ignores('a/b/')).toBe(true);
});

test('removed rules no longer apply', () => {
  const all = new IgnoreRules();
  all.add('a/', rules(['b.txt']));
  expect(all.ignores('a/b.txt')).toBe(true);
  all.remove('a/');
  expect(all.ignores('a/b.txt')).toBe(false);
});
