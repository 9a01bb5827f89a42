// Checks that every regular expression of production code takes at most linear time on any text, because much of the
// text comes from agents and clients.
import { globSync } from 'node:fs';
import { root } from './bootstrap/root.mjs';
import { checkExpressions } from './expressions/check.ts';
import { exceptions } from './expressions/exceptions.ts';

const files = globSync('packages/*/{src,bin,convex}/**/*.{ts,tsx,js}', { cwd: root }).filter(
  (file) => !/\.test\.tsx?$|\/testing\/|^packages\/testkit\//.test(file),
);
const complaints = await checkExpressions(root, files.toSorted(), exceptions);
for (const complaint of complaints) console.error(complaint);
console.log(`${files.length} files, ${complaints.length} expressions that may be slow`);
process.exit(complaints.length === 0 ? 0 : 1);
