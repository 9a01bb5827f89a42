import { readFileSync } from 'node:fs';
import { ErrorBody } from '@liminal/protocol';
import { expect } from 'vitest';
import type { RawAnswer } from '../../packages/server/test/raw-request.ts';

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

/** The status for each code, according to `docs/protocol.md`. */
const documented = new Map(
  [...page.matchAll(/^\| (\d{3}) \| (.+) \|$/gm)].flatMap(([, status, cell = '']) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, code]): [string, number] => [
      String(code),
      Number(status),
    ]),
  ),
);

/**
 * Checks the rules for every rejection: the code and the status are documented, the message is a sentence, and the
 * error is not an internal one.
 */
export function expectRefusal({ status, headers, text }: RawAnswer): void {
  expect(status, text).toBeGreaterThanOrEqual(400);
  expect(status, text).toBeLessThan(500);
  expect(headers['content-type'], text).toContain('application/json');
  const { error } = ErrorBody.strict().parse(JSON.parse(text));
  expect(error.message).toMatch(/\w+ \w+/);
  expect({ ...error, status }).toEqual({ ...error, status: documented.get(error.code) });
}
