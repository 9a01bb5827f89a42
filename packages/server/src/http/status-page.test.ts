import { readFileSync } from 'node:fs';
import { LiminalError } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { describeError } from './error-answers.ts';

const page = readFileSync(new URL('../../../../docs/protocol.md', import.meta.url), 'utf8');

const rows = [...page.matchAll(/^\| (\d{3}) \| (.+) \|$/gm)].flatMap(([, status, cell]) =>
  [...cell!.matchAll(/`([A-Z_]+)`/g)].map(([, code]): [string, number] => [code!, Number(status)]),
);

test.each(rows)('the code %s has the status %d that docs/protocol.md lists', (code, status) => {
  expect(describeError(new LiminalError(code, '')).status).toBe(status);
});
