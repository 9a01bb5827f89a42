import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Tally } from './tally.ts';

/** The parts of the JSON reporter's output that the checks read. */
const resultsSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(
        z.object({ ancestorTitles: z.array(z.string()), title: z.string(), status: z.string() }),
      ),
    }),
  ),
});

/** The results, with one entry per test file. */
export type TestResults = z.infer<typeof resultsSchema>['testResults'];

/** Reads a results file. If the file is missing, as after a crash, returns no results. */
export function readResults(file: string): TestResults {
  if (!existsSync(file)) return [];
  return resultsSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).testResults;
}

/**
 * Counts each test once. A skipped test counts as failed, because it proves nothing. A file that failed outside its
 * tests, a run that found no tests, and a run that failed outside all files each count as one failure.
 * @param exitedWell - Whether the run ended with code 0.
 */
export function tallyResults(results: TestResults, exitedWell: boolean): Tally {
  const tests = results.flatMap((file) => file.assertionResults);
  const passed = tests.filter((test) => test.status === 'passed').length;
  const failed = tests.length - passed + results.filter(failedOutsideTests).length;
  const unexplained = failed === 0 && (tests.length === 0 || !exitedWell);
  return { passed, failed: unexplained ? 1 : failed };
}

function failedOutsideTests(file: TestResults[number]): boolean {
  return (
    file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed')
  );
}
