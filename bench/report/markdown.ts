/** Writes the report as a page: first the problems, then each group with its plot. */
import { type Compared, type Comparison, type Earlier, isSameMachine } from './compare.ts';
import type { Distribution, Group, Report, ReportedFigure } from './report.ts';
import { isBusy, readable, boundText, commitText, machineText } from './words.ts';

export function writeMarkdown(report: Report, compared: readonly Compared[]): string {
  const { machine, groups } = report;
  const [first] = groups;
  return [
    '# What Liminal costs',
    `${machineText(machine)}${first ? `, Node ${first.run.node}, kernel ${first.run.kernel}; commit ${commitText(first.run)}; begun ${first.run.at}` : ''}.`,
    summarise(compared),
    ...warn(report),
    ...listFigures('Bounds that are missed', compared, ({ figure }) => figure.verdict === 'MISS'),
    ...listFigures(
      'Worse than what was kept',
      compared,
      ({ comparison }) => comparison.verdict === 'worse',
    ),
    '## How to read it',
    reading,
    ...compared.flatMap((one) => writeGroup(one, report)),
    '',
  ].join('\n\n');
}

/** Returns a sentence for the terminal and the top of the report. */
export function summarise(compared: readonly Compared[]): string {
  const all = compared.flatMap(({ figures }) => figures);
  const missed = all.filter(({ figure }) => figure.verdict === 'MISS').length;
  const count = (verdict: Comparison['verdict']): number =>
    all.filter(({ comparison }) => comparison.verdict === verdict).length;
  const cut = compared.filter(({ group }) => group.ended !== 'whole').map(({ group }) => group);
  const isNew = count('new') === all.length;
  return [
    `Figures: ${all.length}. Beyond their bounds: ${missed === 0 ? 'none' : missed}.`,
    isNew
      ? 'None was kept before.'
      : `Beside what was kept: ${count('worse')} worse, ${count('better')} better, ${count('same')} the same, ${count('apart')} of another machine, ${count('new')} new.`,
    ...cut.map((group) => `The group ${group.name} ${endText(group)}.`),
  ].join(' ');
}

const reading = `Each figure and its floor were measured alternately in the same run. *Median / P95* are those of the single measurements, in the unit of the floor if there is a floor. *Kept* is the value in the last report that was kept with \`npm run bench -- --keep\`. **same** means that the difference is at most 5 % (10 % for a figure with only one measurement), that it is at most 2 % of the bound, or that the 95 % intervals of both runs overlap. These intervals are computed from the ranks of the measurements. They do not show that the machine was slower during the whole run, so measure twice before you trust a **worse**. Ratios, shares and counts are compared across machines; all other figures are compared on the same machine only.`;

function warn({ groups, machine }: Report): string[] {
  const busy = groups.filter(({ run }) => isBusy(run, machine));
  if (busy.length === 0) return [];
  const loads = busy.map(({ name, run }) => `${name} (${readable(run.load)})`).join(', ');
  return [
    `**The machine had other work.** Load when these began, of ${machine.cores} cores: ${loads}. Part of it may be the groups before. Absolute times say little.`,
  ];
}

function listFigures(
  title: string,
  compared: readonly Compared[],
  fits: (one: Compared['figures'][number]) => boolean,
): string[] {
  const found = compared.flatMap(({ group, figures }) =>
    figures.filter(fits).map((one) => ({ ...one, group })),
  );
  if (found.length === 0) return [];
  const lines = found.map(({ figure, comparison, group }) => {
    const before =
      comparison.before === undefined ? '' : `; kept: ${withUnit(comparison.before, figure.unit)}`;
    return `- ${figure.name}: ${withUnit(figure.value, figure.unit)} (${boundText(figure)}${before}), \`npm run bench -- ${group.name}\``;
  });
  return [`## ${title}`, lines.join('\n')];
}

function writeGroup({ group, earlier, figures }: Compared, { machine }: Report): string[] {
  const rows = figures.map(({ figure, comparison }) => row(figure, comparison));
  return [
    `## ${group.name}`,
    ...(group.ended === 'whole' ? [] : [`**It ${endText(group)}.** ${group.error ?? ''}`.trim()]),
    ...(earlier ? [earlierText(earlier, isSameMachine(earlier.machine, machine))] : []),
    ...(rows.length === 0
      ? []
      : [
          [
            '| figure | value | bound | | median / P95 | floor: median / P95 | kept | |',
            '|---|---|---|---|---|---|---|---|',
            ...rows,
          ].join('\n'),
          `![Measurements, floor and limit of ${group.name}](${group.name}.svg)`,
          figures.map(({ figure }) => `- ${figure.name}: ${figure.detail}`).join('\n'),
        ]),
  ];
}

function row(figure: ReportedFigure, comparison: Comparison): string {
  const { name, value, unit, verdict, distribution, floor } = figure;
  const cells = [
    name,
    withUnit(value, unit),
    boundText(figure),
    verdict === 'ok' ? 'ok' : '**MISS**',
    floor ? distributionText(floor.ours, floor.unit) : distributionText(distribution, unit),
    floor ? distributionText(floor.floor, floor.unit) : '',
    comparison.before === undefined ? '' : withUnit(comparison.before, unit),
    comparison.verdict === 'worse' ? '**worse**' : comparison.verdict,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

function distributionText(distribution: Distribution | undefined, unit: string): string {
  if (distribution === undefined) return '';
  const { median, p95, count } = distribution;
  return `${readable(median)} / ${withUnit(p95, unit)} of ${count}`;
}

function earlierText({ group, machine }: Earlier, isSame: boolean): string {
  const where = isSame ? 'this machine' : `another machine (${machineText(machine)})`;
  return `Kept: commit ${commitText(group.run)}, ${group.run.at}, on ${where}, Node ${group.run.node}, load ${readable(group.run.load)}.`;
}

const endText = ({ ended }: Group): string => (ended === 'crashed' ? 'crashed' : 'was interrupted');

const withUnit = (value: number, unit: string): string => `${readable(value)} ${unit}`.trim();
