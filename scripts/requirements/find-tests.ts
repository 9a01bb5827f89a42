import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readResults } from '../checks/test-results.ts';
import type { NamedTest } from './coverage.ts';

const listSchema = z.array(z.object({ file: z.string(), name: z.string() }));

/** Returns the tests of a finished run, read from its results file. */
export function testsThatRan(resultsFile: string): NamedTest[] {
  return readResults(resultsFile).flatMap(({ name: file, assertionResults }) =>
    assertionResults.map(({ ancestorTitles, title }) => ({
      file,
      suites: ancestorTitles,
      name: title,
    })),
  );
}

/**
 * Returns all tests, as Vitest lists them. Vitest must load the test files, because tests that are made in loops and in
 * shared suites get their names only then.
 */
export function listTests(): NamedTest[] {
  const folder = mkdtempSync(join(tmpdir(), 'liminal-requirements-'));
  const file = join(folder, 'tests.json');
  try {
    const args = ['list', '--no-static-parse', `--json=${file}`];
    const { status } = spawnSync('vitest', args, { stdio: 'inherit' });
    if (status !== 0) throw new Error('Vitest could not list the tests; see above.');
    return listSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).map(named);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Splits a listed test: Vitest joins the names of its suites and its own name to one text. */
function named({ file, name }: z.infer<typeof listSchema>[number]): NamedTest {
  const names = name.split(' > ');
  return { file, suites: names.slice(0, -1), name: names.at(-1) ?? '' };
}
