// Lists every requirement with its tests: `npm run requirements`. Fails on one that has none.
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './bootstrap/root.mjs';
import { catalogue } from './requirements/catalogue.ts';
import { cover, describeCoverage } from './requirements/coverage.ts';
import { listTests, testsThatRan } from './requirements/find-tests.ts';

const { values } = parseArgs({ options: { results: { type: 'string' } } });
const found = values.results === undefined ? listTests() : testsThatRan(values.results);
const tests = found.map(({ file, name }) => ({ file: relative(root, file), name }));

const covered = cover(catalogue, tests);
const missing = covered.filter((requirement) => requirement.tests.length === 0);

for (const requirement of covered) console.log(describeCoverage(requirement));
console.log(`${covered.length} requirements, ${missing.length} without a test`);
if (missing.length > 0) console.log(`Without a test: ${missing.map(({ id }) => id).join(', ')}`);
process.exitCode = missing.length === 0 ? 0 : 1;
