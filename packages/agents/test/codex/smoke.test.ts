/**
 * Tests an installed Codex without a model: the program in `ACPLB_CODEX_SMOKE_BIN`, or else the program in Liminal's
 * packages.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codexBinary, codexEnvironment } from '@liminal/testkit';
import { afterAll, expect, test } from 'vitest';

const program = process.env['ACPLB_CODEX_SMOKE_BIN'] || codexBinary();
const home = mkdtempSync(join(tmpdir(), 'liminal-smoke-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test.each([
  [['--version'], /^codex-cli \d+\.\d+\.\d+/],
  [['exec', '--help'], /^Run Codex non-interactively\n\nUsage: .*exec /],
])('FR-039-09 AS-039-6: codex %j prints its name and ends', async (args, says) => {
  const { stdout } = await promisify(execFile)(program, args, { env: codexEnvironment(home) });
  expect(stdout).toMatch(says);
});
