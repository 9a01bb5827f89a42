// Compares what the agents' programs declare with what stands in `agent-interfaces/`: `npm run interfaces`. Fails on a
// name that stands in no row, on one that is gone, and on an old docs/agent-interfaces.md; `-- --write` writes the page.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './bootstrap/root.mjs';
import { findAllProblems } from './agent-interfaces/all.ts';
import { interfacesPage, sections } from './agent-interfaces/page.ts';

const { values } = parseArgs({ options: { write: { type: 'boolean' } } });
const pagePath = join(root, 'docs/agent-interfaces.md');
const page = interfacesPage(sections);
if (values.write) writeFileSync(pagePath, page);
const problems = findAllProblems();
if (readFileSync(pagePath, 'utf8') !== page) {
  problems.push('docs/agent-interfaces.md is old: npm run interfaces -- --write');
}

for (const problem of problems) console.log(problem);
console.log(`${sections.flatMap(({ rows }) => rows).length} rows, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
