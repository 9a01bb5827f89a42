// `npm run requirements` lists every requirement with its tests. The command fails if a requirement has no test and is
// not marked as open, if an open requirement has a test, if a test's name has an unknown id, if a suite's name has an
// id, or if docs/requirements.md is out of date; `-- --write` writes that page.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './bootstrap/root.mjs';
import { catalogue } from './requirements/catalogue.ts';
import { cover, describeCoverage, findProblems } from './requirements/coverage.ts';
import { listTests, testsThatRan } from './requirements/find-tests.ts';
import { departures } from './requirements/decisions.ts';
import { requirementsPage } from './requirements/page.ts';

const { values } = parseArgs({
  options: { results: { type: 'string' }, write: { type: 'boolean' } },
});
const found = values.results === undefined ? listTests() : testsThatRan(values.results);
const tests = found.map(({ file, ...named }) => ({ file: relative(root, file), ...named }));

const covered = cover(catalogue, tests);
const open = covered.filter((requirement) => requirement.open !== undefined);
const pagePath = join(root, 'docs/requirements.md');
const page = requirementsPage(covered, departures);
if (values.write) writeFileSync(pagePath, page);
const problems = [
  ...findProblems(catalogue, tests),
  ...(readFileSync(pagePath, 'utf8') === page
    ? []
    : ['docs/requirements.md is outdated: npm run requirements -- --write']),
];

for (const requirement of covered) console.log(describeCoverage(requirement));
for (const problem of problems) console.log(problem);
console.log(`${covered.length} requirements, ${open.length} open, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
