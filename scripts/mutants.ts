// Mutation tests: changes parts of the program one after another and checks whether a test fails: `npm run mutants`,
// with names of areas (`scripts/mutants/areas.ts`) for only these. `-- --sample 40` mutates 40 random pieces of ten
// lines of each area (`--seed 2` selects other pieces), `-- loop --file FILE` one file. A full run takes many hours on
// two cores, less after an earlier run: results without changes are reused. Fails if an area's tests notice too few
// mutants.
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
    throw new Error(`No area is named ${name}; there are ${Object.keys(areas).join(', ')}.`);
  // Read by Vitest's configuration, which each worker of Stryker loads.
  process.env['MUTANTS_AREA'] = name;
  const mutants = await new Stryker({
    ...mutantOptions,
    concurrency: Number(values.workers),
    mutate: mutatedIn(area),
    // Do not store the results of a sample or of one file: the score would then count every mutant that was ever tried.
    incremental: values.file === undefined && values.sample === undefined,
    incrementalFile: `node_modules/.cache/mutants/${name}.json`,
  }).runMutationTest();
  scores.push(`${name}: ${scoreOf(mutants.map(({ status }) => status))}`);
}
process.stdout.write(`${scores.join('\n')}\n`);

/** Files, or pieces of files, in Stryker's format. */
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
