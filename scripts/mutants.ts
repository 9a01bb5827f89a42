// Changes the protocol and the translators in one place after another and sees whether a test fails: `npm run mutants`.
// `-- --sample 40` takes so many pieces of ten lines (`--seed 2`: others); `-- FILE …` all of these files. Whole, it
// takes hours on two cores, less when it has run before: what nothing has changed for is not tried again.
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { root } from './bootstrap/root.mjs';
import { mutantOptions, mutated } from './mutants/options.ts';
import { samplePieces } from './mutants/sample.ts';

const { values, positionals } = parseArgs({
  options: { sample: { type: 'string' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});
process.chdir(root);
// Of a part nothing is remembered: its result would count everything that was ever tried.
const isWhole = positionals.length === 0 && values.sample === undefined;
const files = positionals.length > 0 ? positionals : globSync(mutated.files, mutated.without);
const lines = (file: string): number => readFileSync(file, 'utf8').split('\n').length;
const mutate =
  values.sample === undefined
    ? files
    : samplePieces(
        files.map((file) => ({ file, lines: lines(file) })),
        Number(values.sample),
        Number(values.seed),
      );
// Sets the exit code, too: 1 where fewer are killed than the bound asks for.
await new Stryker({ ...mutantOptions, mutate, incremental: isWhole }).runMutationTest();
