import { expect, test } from 'vitest';
import { clientPath, withClientPaths } from './client-paths.ts';

const place = { cwd: '/home/me/link', projectDir: '/srv/app' };

test.each([
  ['/srv/app/src/a.ts', '/home/me/link/src/a.ts'],
  ['src/a.ts', '/home/me/link/src/a.ts'],
  ['.', '/home/me/link'],
  ['/srv/application/a.ts', '/srv/application/a.ts'],
  ['../other/a.ts', '/srv/other/a.ts'],
  ['..a.ts', '/home/me/link/..a.ts'],
])('for the path %s, the client gets the path %s', (path, expected) => {
  expect(clientPath(place, path)).toBe(expected);
});

test('the locations and changes of a tool call contain the paths that the client uses', () => {
  const text = { type: 'content', content: { type: 'text', text: 'src/a.ts' } } as const;
  const diff = { type: 'diff', path: 'src/a.ts', oldText: null, newText: 'a' } as const;
  const call = {
    toolCallId: 'c',
    locations: [{ path: 'src/a.ts', line: 3 }],
    content: [text, diff],
  };
  expect(withClientPaths(call, place)).toEqual({
    toolCallId: 'c',
    locations: [{ path: '/home/me/link/src/a.ts', line: 3 }],
    content: [text, { ...diff, path: '/home/me/link/src/a.ts' }],
  });
  const bare = { toolCallId: 'c', content: null };
  expect(withClientPaths(bare, place)).toEqual(bare);
});
