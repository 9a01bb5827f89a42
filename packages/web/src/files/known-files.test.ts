import { expect, it } from 'vitest';
import { tool } from '../transcript/testing/items.ts';
import { KnownFiles } from './known-files.ts';

it('a file is found by the end of its path, unless several paths have the same end', () => {
  const known = new KnownFiles();
  let told = 0;
  known.subscribe(() => told++);
  known.addItems([tool('a', { locations: [{ path: '/code/shop/src/a.ts', line: 3 }] })]);
  expect(known.find('a.ts')).toBe('/code/shop/src/a.ts');
  expect(known.find('./src/a.ts')).toBe('/code/shop/src/a.ts');
  expect(known.find('b.ts')).toBeUndefined();
  expect(known.find('s/src/a.ts')).toBeUndefined();

  known.addItems([tool('b', { diffs: [{ path: '/code/shop/test/a.ts', newText: '' }] })]);
  expect(known.find('a.ts')).toBeUndefined();
  expect(known.find('test/a.ts')).toBe('/code/shop/test/a.ts');
  expect(told).toBe(2);
  known.addItems([tool('c', { locations: [{ path: '/code/shop/src/a.ts' }] })]);
  expect(told).toBe(2);
});
