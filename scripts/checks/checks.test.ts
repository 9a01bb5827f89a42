import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runCheck } from './run-check.ts';
import { add, none, summary } from './tally.ts';
import { readResults, tallyResults } from './test-results.ts';

describe('the tally', () => {
  test('the last line of the tally contains the sums over all checks and tests', () => {
    const tally = [
      { passed: 2, failed: 0 },
      { passed: 1, failed: 3 },
    ].reduce(add, none);
    expect(summary(tally)).toBe('3 passed, 3 failed');
  });

  test('each test counts once', () => {
    const results = [file('passed', ['passed', 'passed']), file('failed', ['passed', 'failed'])];
    expect(tallyResults(results, false)).toEqual({ passed: 3, failed: 1 });
  });

  test('a skipped test counts as failed', () => {
    const results = [file('passed', ['passed', 'skipped'])];
    expect(tallyResults(results, true)).toEqual({ passed: 1, failed: 1 });
  });

  test('a file that could not be loaded counts as failed', () => {
    const results = [file('passed', ['passed']), file('failed', [])];
    expect(tallyResults(results, false)).toEqual({ passed: 1, failed: 1 });
  });

  test('a failure outside all files counts as failed', () => {
    expect(tallyResults([file('passed', ['passed'])], false)).toEqual({ passed: 1, failed: 1 });
  });

  test('a run without tests counts as failed', () => {
    expect(tallyResults([], true)).toEqual({ passed: 0, failed: 1 });
  });

  test('if a run crashed and wrote no results file, it has no results', () => {
    expect(readResults(join(import.meta.dirname, 'nowhere.json'))).toEqual([]);
  });
});

describe('a check', () => {
  const printed: string[] = [];
  beforeEach(() => {
    printed.length = 0;
    vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  });
  afterEach(() => vi.restoreAllMocks());

  test('if a check passes, its own output is not printed', async () => {
    expect(await runCheck(script('console.log("all is well")'))).toEqual({ passed: 1, failed: 0 });
    expect(printed.join('\n')).toMatch(/^✓ planted \(\d+\.\d s\)$/);
  });

  test('if a check fails, its whole output is printed', async () => {
    const tally = await runCheck(
      script('console.log("out"); console.error("err"); process.exit(3)'),
    );
    expect(tally).toEqual({ passed: 0, failed: 1 });
    expect(printed.join('\n')).toMatch(/^✗ planted .*\n(out\nerr|err\nout)$/);
  });

  test('a check that crashes counts as failed', async () => {
    expect(await runCheck(script('process.kill(process.pid, "SIGKILL")'))).toEqual({
      passed: 0,
      failed: 1,
    });
    expect(printed.join('\n')).toContain('ended by SIGKILL');
  });

  test('a check that cannot start counts as failed', async () => {
    const check = { name: 'planted', command: 'no-such-program-anywhere', args: [] };
    expect(await runCheck(check)).toEqual({ passed: 0, failed: 1 });
    expect(printed.join('\n')).toContain('could not start');
  });
});

function file(status: string, tests: string[]) {
  const assertionResults = tests.map((test, index) => ({
    ancestorTitles: [],
    title: `${index}`,
    status: test,
  }));
  return { name: 'a.test.ts', status, assertionResults };
}

function script(source: string) {
  return { name: 'planted', command: process.execPath, args: ['-e', source] };
}
