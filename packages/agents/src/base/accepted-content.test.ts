import { describe, expect, test } from 'vitest';
import { fileAsText, linkedPath, linkAsText } from './accepted-content.ts';

const link = { type: 'resource_link', uri: 'file:///code/a%20b.ts', name: 'a b.ts' } as const;

describe('agents that accept only text', () => {
  test('an agent that accepts only text gets a file as text with the file’s name', () => {
    expect(fileAsText({ uri: 'blob:1', name: 'a "b".md', text: 'Hello' })).toBe(
      '<file name="a \\"b\\".md">\nHello\n</file>',
    );
  });

  test.each([
    [link, '/code/a b.ts', '/code/a b.ts'],
    [{ ...link, uri: 'https://example.org/x', name: 'X' }, undefined, 'X: https://example.org/x'],
    [{ ...link, uri: 'no address', name: 'X' }, undefined, 'X: no address'],
    [{ ...link, uri: 'file://other-host/x', name: 'X' }, undefined, 'X: file://other-host/x'],
  ])(
    'for an agent that accepts only text, the link %j has the path %s and the text %s',
    (one, path, words) => {
      expect(linkedPath(one)).toBe(path);
      expect(linkAsText(one)).toBe(words);
    },
  );
});
