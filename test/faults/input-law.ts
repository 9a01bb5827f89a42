import { readFileSync } from 'node:fs';
import { ErrorBody } from '@liminal/protocol';
import { expect } from 'vitest';
import type { RawAnswer } from '../../packages/server/test/raw-request.ts';

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

/** The status of each code, from `docs/protocol.md`. */
const documented = new Map(
  [...page.matchAll(/^\| (\d{3}) \| (.+) \|$/gm)].flatMap(([, status, cell = '']) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, code]): [string, number] => [
      String(code),
      Number(status),
    ]),
  ),
);

/** The rules for every rejection: a documented code and status, a sentence, and never an internal error. */
export function expectRefusal({ status, headers, text }: RawAnswer): void {
  expect(status, text).toBeGreaterThanOrEqual(400);
  expect(status, text).toBeLessThan(500);
  expect(headers['content-type'], text).toContain('application/json');
  const { error } = ErrorBody.strict().parse(JSON.parse(text));
  expect(error.message).toMatch(/\w+ \w+/);
  expect({ ...error, status }).toEqual({ ...error, status: documented.get(error.code) });
}
