/** Checks that the path of a delta in docs/architecture.md matches the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../bootstrap/root.mjs';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const [, table = ''] = read('docs/architecture.md').split('## The path of a delta\n');
const row = /^\| \d+\. `(\w+)\.(#?\w+)` \| `([^`]+)` \|[^|]*\| (?:`([^`]+)` in `([^`]+)`)? ?\|$/gm;
const steps = Array.from(table.split('\n## ', 1)[0]!.matchAll(row), (found) => {
  const [, type = '', method = '', file = '', call = '', callFile = ''] = found;
  return { type, method, file, call, callFile };
});

test('the path of a delta has at most ten steps', () => {
  expect(steps.length).toBeGreaterThan(5);
  expect(steps.length).toBeLessThanOrEqual(10);
});

test.each(steps)('the class $type has the method $method', ({ type, method, file }) => {
  const code = read(file);
  expect(code).toContain(`class ${type} `);
  expect(code).toMatch(new RegExp(`\n  (override |async )?${method}\\(`));
});

test.each(steps.slice(0, -1).map((step, at) => ({ ...step, next: steps[at + 1]!.method })))(
  'the method $method of $type calls $next',
  ({ call, callFile, next }) => {
    expect(call).toContain(`${next}(`);
    expect(read(callFile)).toContain(call);
  },
);
