import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { knownSecretRule, secretRules } from './rules.ts';

const page = readFileSync(new URL('../../../../docs/exports.md', import.meta.url), 'utf8');

test('docs/exports.md lists the rules for removing secrets', () => {
  const rows = page.split('\n').filter((line) => /^\| `[a-z-]+` \|/.test(line));
  expect(rows).toEqual(
    [...secretRules, knownSecretRule].map(({ id, what }) => `| \`${id}\` | ${what} |`),
  );
});
