import { expect, test } from 'vitest';
import { readLocations, readToolContent } from './tool-content.ts';

const empty = { parts: [], blocks: [], diffs: [], unread: [] };

test.each([
  { type: 'terminal' },
  { type: 'terminal', path: '/a', newText: 'b' },
  { type: 'diff', terminalId: 't1' },
  { type: 'diff', path: '/a' },
  { type: 'diff', newText: 'b' },
  { type: 'hologram', terminalId: 't1', path: '/a', newText: 'b' },
])('content with a missing or invalid field is kept unchanged: %j', (entry) => {
  expect(readToolContent([entry])).toEqual({ ...empty, unread: [entry] });
});

test('a diff of a new file has no old text', () => {
  const diff = { type: 'diff', path: '/a', newText: 'b' };
  expect(readToolContent([diff, { ...diff, oldText: 'a' }]).diffs).toEqual([
    { path: '/a', oldText: null, newText: 'b' },
    { path: '/a', oldText: 'a', newText: 'b' },
  ]);
});

test('texts, terminals and diffs keep their order, and their unknown fields are kept', () => {
  const text = { type: 'content', content: { type: 'text', text: 'One' } };
  const read = readToolContent([text, { type: 'terminal', terminalId: 't1', beam: 1 }, text]);
  expect(read.parts).toEqual([{ text: 'One' }, { terminalId: 't1' }, { text: 'One' }]);
  expect(read.unread).toEqual([{ beam: 1 }]);
});

test('if a block cannot be shown, its parts are kept', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
  const odd = [{ ...image, x: 1 }, { type: 'hologram' }];
  const read = readToolContent(odd.map((content) => ({ type: 'content', content })));
  expect(read).toEqual({ ...empty, blocks: [image], unread: [{ x: 1 }, { type: 'hologram' }] });
});

test('a location has a path, and a line if the agent sends a line', () => {
  const odd = { path: '/c', beam: 1 };
  const read = readLocations([{ path: '/a' }, { path: '/b', line: 3 }, { line: 4 }, odd, 7]);
  expect(read.locations).toEqual([{ path: '/a' }, { path: '/b', line: 3 }, { path: '/c' }]);
  expect(read.unread).toEqual([{ line: 4 }, odd, 7]);
});
