import { expect, test } from 'vitest';
import { describeTool } from './describe-tool.ts';

const face = (name: string, input: Record<string, unknown> = {}) =>
  describeTool(name, input, '/code/shop');

test.each([
  ['Bash', { command: 'npm test' }, 'execute', 'Run npm test'],
  ['Bash', { command: 'cd a\nls' }, 'execute', 'Run cd a …'],
  ['Read', { file_path: '/code/shop/src/a.ts' }, 'read', 'Read src/a.ts'],
  ['Read', { file_path: '/etc/hosts', offset: 5, limit: 3 }, 'read', 'Read /etc/hosts, lines 5–7'],
  ['Edit', { file_path: '/code/shop/a.ts' }, 'edit', 'Edit a.ts'],
  ['Grep', { pattern: 'load', path: '/code/shop/src' }, 'search', 'Search for “load” in src'],
  ['Grep', { pattern: 'load', path: '/code/shop' }, 'search', 'Search for “load”'],
  ['Glob', { pattern: '**/*.ts' }, 'search', 'Find “**/*.ts”'],
  ['WebFetch', { url: 'https://example.org' }, 'fetch', 'Fetch https://example.org'],
  ['ToolSearch', { query: 'images' }, 'search', 'Look for tools “images”'],
  ['Agent', { description: 'Find the bug' }, 'think', 'Delegate: Find the bug'],
  ['ExitPlanMode', { plan: '# Plan' }, 'switch_mode', 'Present the plan'],
  ['constructor', {}, 'other', 'constructor'],
  ['mcp__github__create_issue', { title: 'x' }, 'other', 'github: create_issue'],
  ['SomethingNew', {}, 'other', 'SomethingNew'],
])('%s %j is of kind %s and called “%s”', (name, input, kind, title) => {
  expect(face(name, input)).toMatchObject({ kind, title });
});

test('a tool without its arguments yet is named by what it does', () => {
  expect(face('Read')).toEqual({ kind: 'read', title: 'Read' });
  expect(face('Edit', { file_path: 7 })).toEqual({ kind: 'edit', title: 'Edit' });
});

test('locations have their line, changes both sides', () => {
  const file_path = '/code/shop/a.ts';
  expect(face('Read', { file_path, offset: 12 }).locations).toEqual([
    { path: file_path, line: 12 },
  ]);
  expect(face('Edit', { file_path, old_string: 'a', new_string: 'b' }).diffs).toEqual([
    { path: file_path, oldText: 'a', newText: 'b' },
  ]);
  expect(face('Write', { file_path, content: 'new' }).diffs).toEqual([
    { path: file_path, newText: 'new' },
  ]);
});
