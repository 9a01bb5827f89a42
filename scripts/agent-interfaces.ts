// `npm run interfaces` compares the names that the agents' programs declare with the rows in `agent-interfaces/`. The
// command fails if a declared name has no row, if a row's name is no longer declared, or if docs/agent-interfaces.md or
// a table in docs/terminal-commands.md is out of date; `-- --write` writes both documents.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './bootstrap/root.mjs';
import { findAllProblems } from './agent-interfaces/all.ts';
import { interfacesPage, sections } from './agent-interfaces/page.ts';
import { withTerminals } from './agent-interfaces/terminals.ts';

const { values } = parseArgs({ options: { write: { type: 'boolean' } } });
const pages = [
  { name: 'docs/agent-interfaces.md', make: () => interfacesPage(sections) },
  { name: 'docs/terminal-commands.md', make: withTerminals },
];
const problems = findAllProblems();
for (const { name, make } of pages) {
  const path = join(root, name);
  const now = readFileSync(path, 'utf8');
  const made = make(now);
  if (values.write) writeFileSync(path, made);
  else if (made !== now) problems.push(`${name} is outdated: npm run interfaces -- --write`);
}

for (const problem of problems) console.log(problem);
console.log(`${sections.flatMap(({ rows }) => rows).length} rows, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
