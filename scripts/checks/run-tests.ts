import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readResults, tallyResults } from './test-results.ts';
import type { Tally } from './tally.ts';

/** Milliseconds after which the run hangs rather than works. */
const patience = 60 * 60_000;

/**
 * Runs all tests, showing them as they go, and leaves their results in a JSON file.
 * @param resultsFile where the results go
 * @param only files or folders; none for all
 */
export async function runTests(resultsFile: string, only: readonly string[]): Promise<Tally> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${resultsFile}`];
  const child = spawn('vitest', ['run', ...reporters, ...only], {
    stdio: 'inherit',
    timeout: patience,
  });
  const ended = await Promise.race([once(child, 'exit'), once(child, 'error')]);
  return tallyResults(readResults(resultsFile), ended[0] === 0);
}
