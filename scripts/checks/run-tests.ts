import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readResults, tallyResults } from './test-results.ts';
import type { Tally } from './tally.ts';

/** Milliseconds after which the run hangs rather than works. */
const patience = 60 * 60_000;

/** Every process that runs our sources as they are compiles them once. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/tests', import.meta.url));

/**
 * Runs all tests, showing them as they go, and leaves their results in a JSON file.
 * @param resultsFile where the results go
 * @param only files or folders; none for all
 */
export async function runTests(resultsFile: string, only: readonly string[]): Promise<Tally> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${resultsFile}`];
  const child = spawn('vitest', ['run', ...reporters, ...only], {
    stdio: 'inherit',
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    timeout: patience,
  });
  const ended = await Promise.race([once(child, 'exit'), once(child, 'error')]);
  return tallyResults(readResults(resultsFile), ended[0] === 0);
}
