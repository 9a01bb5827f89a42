/**
 * Measures every figure, prints it with its bound, and writes a report that compares it with the kept report: `npm run
 * bench [-- [--keep] NAME…]`. The option `--list` prints the names of the groups of figures; `--keep` stores this
 * report for later comparisons. Exits with 1 if a figure misses its bound, 3 if a group crashed, 130 if it was
 * interrupted.
 */
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { groups } from './groups.ts';
import { readCommit, readMachine, readRun } from './report/circumstances.ts';
import { compareReport } from './report/compare.ts';
import { storeReport, readStoredReports } from './report/stored-reports.ts';
import { summarise } from './report/markdown.ts';
import type { Group, Report, ReportedFigure } from './report/report.ts';
import { readable, boundText, machineText } from './report/words.ts';
import { nameFolder, writeReport } from './report/write.ts';
import { type Cut, describeError, runGroup } from './run-group.ts';

const exits = { missed: 1, usage: 2, crashed: 3, interrupted: 130 };

const { list, isKept, wanted } = readArguments();
if (list) {
  console.log(Object.keys(groups).join('\n'));
  process.exit(0);
}

const machine = readMachine();
const first = readRun();
console.log(
  `${machineText(machine)}, Node ${first.node}, ${first.at}, load ${readable(first.load)}`,
);
const kept = await readStoredReports().catch((error: unknown) => refuse(describeError(error)));
const report: Report = { version: 1, machine, groups: [] };
const folder = join(fileURLToPath(new URL('results', import.meta.url)), nameFolder(first));

let cut = Promise.withResolvers<Cut>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => cut.resolve({ ended: 'interrupted' }));
}
// If something that a group has left running throws an error, only that group ends.
process.on('uncaughtException', (error) =>
  cut.resolve({ ended: 'crashed', error: describeError(error) }),
);

for (const name of wanted) {
  const group = await measure(name);
  report.groups.push(group);
  // Write the report after each group, so that a report exists whatever happens later.
  await writeReport(folder, report, compareReport(report, kept));
  if (group.ended === 'interrupted') break;
  cut = Promise.withResolvers();
}
console.log(summarise(compareReport(report, kept)));
console.log(`Report: ${relative(process.cwd(), join(folder, 'report.md'))}`);
const code = exitCode(report.groups);
if (isKept && code !== exits.interrupted)
  console.log(`Kept: ${relative('.', await storeReport(report))}`);
// Exit explicitly, because a crashed group may have left a process or a timer running.
process.exit(code);

async function measure(name: string): Promise<Group> {
  const measureAll = groups[name];
  if (measureAll === undefined) throw new Error(`There is no group ${name}.`);
  const group = await runGroup({
    name,
    run: readRun(),
    measure: measureAll,
    cut: cut.promise,
    onFigure: (figure) => console.log(describe(figure)),
  });
  if (group.ended !== 'whole') console.log(`${group.ended}  ${name}  ${group.error ?? ''}`.trim());
  return group;
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { list: { type: 'boolean' }, keep: { type: 'boolean' } },
    });
    const unknown = positionals.filter((name) => !(name in groups));
    if (unknown.length > 0) refuse(`No such figure: ${unknown.join(', ')}. There are: ${names()}.`);
    if (values.keep === true && !readCommit().isClean)
      refuse(
        'The working tree has changes. A kept report must belong to a commit, so commit the changes first.',
      );
    const wanted = Object.keys(groups).filter(
      (name) => positionals.length === 0 || positionals.includes(name),
    );
    return { list: values.list === true, isKept: values.keep === true, wanted };
  } catch (error) {
    return refuse(describeError(error));
  }
}

function refuse(why: string): never {
  console.error(why);
  process.exit(exits.usage);
}

function names(): string {
  return Object.keys(groups).join(', ');
}

function describe(figure: ReportedFigure): string {
  const { name, value, unit, verdict, detail } = figure;
  return `${verdict.padEnd(4)}  ${name}: ${`${readable(value)} ${unit}`.trim()} (${boundText(figure)})  ${detail}`;
}

function exitCode(measured: readonly Group[]): number {
  if (measured.some(({ ended }) => ended === 'interrupted')) return exits.interrupted;
  if (measured.some(({ ended }) => ended === 'crashed')) return exits.crashed;
  const isMissed = measured.some(({ figures }) => figures.some((one) => one.verdict === 'MISS'));
  return isMissed ? exits.missed : 0;
}
