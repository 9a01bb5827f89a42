// Runs all checks and tests that must pass before a commit, as `npm test` and CI do. With arguments, runs only the
// tests of those files or folders.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCheck, type Check } from './checks/run-check.ts';
import { runTests } from './checks/run-tests.ts';
import { add, none, summary, type Tally } from './checks/tally.ts';

const quick: Check[] = [
  { name: 'format', command: 'npm', args: ['run', '--silent', 'format:check'] },
  { name: 'lint', command: 'npm', args: ['run', '--silent', 'lint'] },
  { name: 'types', command: 'npm', args: ['run', '--silent', 'typecheck'] },
  { name: 'dead code', command: 'npm', args: ['run', '--silent', 'dead'] },
  { name: 'layering', command: 'npm', args: ['run', '--silent', 'layers'] },
  { name: 'expressions', command: 'npm', args: ['run', '--silent', 'expressions'] },
];

const folder = mkdtempSync(join(tmpdir(), 'liminal-checks-'));
const results = join(folder, 'tests.json');
const requirements: Check = {
  name: 'requirements',
  command: 'npm',
  args: ['run', '--silent', 'requirements', '--', '--results', results],
};

const only = process.argv.slice(2);
const isAll = only.length === 0;
let tally: Tally = none;
for (const one of await Promise.all(isAll ? quick.map(runCheck) : [])) tally = add(tally, one);
tally = add(tally, await runTests(results, only));
// The check of requirements reads the names of the tests that ran, so it runs after them.
if (isAll) tally = add(tally, await runCheck(requirements));
rmSync(folder, { recursive: true });

console.log(summary(tally));
process.exitCode = tally.failed === 0 ? 0 : 1;
