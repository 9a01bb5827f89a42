import { expect, test } from 'vitest';
import { describeTool } from './describe-tool.ts';

const face = (name: string, input: Record<string, unknown> = {}) =>
  describeTool(name, input, '/code/shop');

test.each([
  ['Bash', { command: 'npm test' }, 'execute', 'Run npm test'],
  ['Bash', { command: 'cd a\nls' }, 'execute', 'Run cd a …'],
  ['Read', { file_path: '/code/shop/src/a.ts' }, 'read', 'Read src/a.ts'],
  ['Bash', { command: '\n ls \n' }, 'execute', 'Run ls'],
  ['Read', { file_path: '/code/shop/a.ts', offset: 5 }, 'read', 'Read a.ts from line 5'],
  ['Read', { file_path: '/code/shop/a.ts', limit: 3 }, 'read', 'Read a.ts, lines 1–3'],
  ['Read', { file_path: '/code/shop/a.ts', offset: '5' }, 'read', 'Read a.ts'],
  ['Read', { offset: 5 }, 'read', 'Read'],
  ['Read', { file_path: '/code/shop' }, 'read', 'Read /code/shop'],
  ['Read', { file_path: '/code' }, 'read', 'Read /code'],
  ['Read', { file_path: '/code/shop/..a' }, 'read', 'Read ..a'],
  ['Read', { file_path: '/code/shopping/a.ts' }, 'read', 'Read /code/shopping/a.ts'],
  ['Read', { file_path: '/etc/hosts', offset: 5, limit: 3 }, 'read', 'Read /etc/hosts, lines 5–7'],
  ['Edit', { file_path: '/code/shop/a.ts' }, 'edit', 'Edit a.ts'],
  ['Grep', { pattern: 'load', path: '/code/shop/src' }, 'search', 'Search for “load” in src'],
  ['Grep', { pattern: 'load', path: '/code/shop' }, 'search', 'Search for “load”'],
  ['Grep', { pattern: 'load', path: 7 }, 'search', 'Search for “load”'],
  ['Grep', { path: '/code/shop/src' }, 'search', 'Search for'],
  ['Glob', { pattern: '**/*.ts' }, 'search', 'Find “**/*.ts”'],
  ['WebFetch', { url: 'https://example.org' }, 'fetch', 'Fetch https://example.org'],
  ['ToolSearch', { query: 'images' }, 'search', 'Look for tools “images”'],
  ['WebSearch', { query: 'a\nb' }, 'fetch', 'Search the web for “a …”'],
  ['web_search', { query: 'a' }, 'fetch', 'Search the web for “a”'],
  ['Task', {}, 'think', 'Delegate'],
  ['Agent', { description: 'Find the bug' }, 'think', 'Delegate: Find the bug'],
  ['ExitPlanMode', { plan: '# Plan' }, 'switch_mode', 'Plan'],
  ['constructor', {}, 'other', 'constructor'],
  ['mcp__github__create_issue', { title: 'x' }, 'other', 'github: create_issue'],
  ['mcp__github__issues__create', {}, 'other', 'github: issues__create'],
  ['mcp__github', {}, 'other', 'mcp__github'],
  ['other__github__create', {}, 'other', 'other__github__create'],
  ['SomethingNew', {}, 'other', 'SomethingNew'],
])('%s %j is of kind %s and called “%s”', (name, input, kind, title) => {
  expect(face(name, input)).toMatchObject({ kind, title });
});

test('before its arguments are known, a tool’s title is its action', () => {
  expect(face('Read')).toEqual({ kind: 'read', title: 'Read' });
  expect(face('Edit', { file_path: 7 })).toEqual({ kind: 'edit', title: 'Edit' });
});

test('locations have a line, and diffs have the old and the new text', () => {
  const file_path = '/code/shop/a.ts';
  for (const offset of [1.5, 1e300, Number.NaN]) {
    expect(face('Read', { file_path, offset }).locations).toEqual([{ path: file_path }]);
  }
  expect(face('Read', { file_path, offset: 12 }).locations).toEqual([
    { path: file_path, line: 12 },
  ]);
  expect(face('Edit', { file_path, old_string: 'a', new_string: 'b' }).diffs).toEqual([
    { path: file_path, oldText: 'a', newText: 'b' },
  ]);
  expect(face('Write', { file_path, content: 'new' }).diffs).toEqual([
    { path: file_path, newText: 'new' },
  ]);
  const grep = face('Grep', { pattern: 'a', path: '/code' });
  expect(grep.locations).toStrictEqual([{ path: '/code' }]);
});

test('an edit without its old text has a diff with the new text; an edit without its new text or its file has no diff', () => {
  const file_path = '/code/shop/a.ts';
  expect(face('Edit', { file_path, new_string: 'b' }).diffs).toEqual([
    { path: file_path, oldText: null, newText: 'b' },
  ]);
  expect(face('Edit', { file_path, old_string: 'a' })).not.toHaveProperty('diffs');
  expect(face('Edit', { old_string: 'a', new_string: 'b' })).not.toHaveProperty('diffs');
  expect(face('Write', { file_path })).not.toHaveProperty('diffs');
  expect(face('Write', { content: 'new' })).not.toHaveProperty('diffs');
});
