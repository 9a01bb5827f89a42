// Changes parts of the program in one place after another and sees whether a test fails: `npm run mutants`, with the names
// of areas (`scripts/mutants/areas.ts`) for these alone. `-- --sample 40` takes so many pieces of ten lines of each area
// (`--seed 2`: others), `-- loop --file FILE` one file. Whole, it takes many hours on two cores, less when it has run
// before: what nothing has changed for is not tried again. Fails if an area's tests notice too few.
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
  // The configuration of Vitest reads it, which each worker of Stryker loads.
  process.env['MUTANTS_AREA'] = name;
  const mutants = await new Stryker({
    ...mutantOptions,
    concurrency: Number(values.workers),
    mutate: mutatedIn(area),
    // Of a part nothing is remembered: its result would count everything that was ever tried.
    incremental: values.file === undefined && values.sample === undefined,
    incrementalFile: `node_modules/.cache/mutants/${name}.json`,
  }).runMutationTest();
  scores.push(`${name}: ${scoreOf(mutants.map(({ status }) => status))}`);
}
process.stdout.write(`${scores.join('\n')}\n`);

/** Files, or pieces of them, as Stryker names them. */
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
