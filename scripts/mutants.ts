// `npm run mutants` changes parts of the program one after another, and checks for each change whether a test fails.
// With names of areas (`scripts/mutants/areas.ts`), the command changes only these areas. `-- --sample 40` mutates 40
// random pieces of ten lines of each area (`--seed 2` selects other pieces), `-- loop --file FILE` mutates one file. A
// full run takes many hours on two cores, but less after an earlier run, because the results of unchanged code are
// reused. The command fails if an area's tests notice too few mutants.
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { root } from './bootstrap/root.mjs';
import { type Area, areas } from './mutants/areas.ts';
import { mutantOptions } from './mutants/options.ts';
import { samplePieces } from './mutants/sample.ts';
import { scoreOf } from './mutants/score.ts';

const { values, positionals } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string', multiple: true },
    workers: { type: 'string', default: '2' },
  },
  allowPositionals: true,
});
process.chdir(root);

const scores: string[] = [];
for (const name of positionals.length > 0 ? positionals : Object.keys(areas)) {
  const area = areas[name];
  if (!area)
    throw new Error(`No area is named ${name}. The areas are ${Object.keys(areas).join(', ')}.`);
  // Vitest's configuration reads this variable in each worker of Stryker.
  process.env['MUTANTS_AREA'] = name;
  const mutants = await new Stryker({
    ...mutantOptions,
    concurrency: Number(values.workers),
    mutate: mutatedIn(area),
    // Do not store the results of a sample or of one file: otherwise the score would count every mutant that was ever
    // tried.
    incremental: values.file === undefined && values.sample === undefined,
    incrementalFile: `node_modules/.cache/mutants/${name}.json`,
  }).runMutationTest();
  scores.push(`${name}: ${scoreOf(mutants.map(({ status }) => status))}`);
}
process.stdout.write(`${scores.join('\n')}\n`);

/** Returns files, or ranges of lines of files, in Stryker's format. */
function mutatedIn({ files }: Area): string[] {
  const all = values.file ?? filesOf(files);
  if (values.sample === undefined) return all;
  const withLines = all.map((file) => ({
    file,
    lines: readFileSync(file, 'utf8').split('\n').length,
  }));
  return samplePieces(withLines, Number(values.sample), Number(values.seed));
}

function filesOf(patterns: string[]): string[] {
  const without = patterns.filter((one) => one.startsWith('!')).map((one) => one.slice(1));
  const exclude = ['**/*.test.ts', '**/testing/**', ...without];
  return globSync(
    patterns.filter((one) => !one.startsWith('!')),
    { exclude },
  ).toSorted();
}
