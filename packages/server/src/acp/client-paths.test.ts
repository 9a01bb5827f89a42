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
])('the client gets the path %s as %s', (path, expected) => {
  expect(clientPath(place, path)).toBe(expected);
});

test('a tool call has the client’s paths in its locations and changes', () => {
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
