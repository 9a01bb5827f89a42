import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  addedOf,
  type Figure,
  intervalOf,
  percentileOf,
  ratioOf,
  shareOf,
} from '../parts/figure.ts';
import { compareFigure, compareReport, findEarlier } from './compare.ts';
import { storeReport, mergeGroups, readStoredReports } from './stored-reports.ts';
import { summarise, writeMarkdown } from './markdown.ts';
import { plotGroup } from './plot.ts';
import { type Group, type Machine, Report, reportFigure, withoutSamples } from './report.ts';
import { nameFolder, writeReport } from './write.ts';

const machine: Machine = { cpu: 'Test CPU @ 2 GHz', cores: 2, memoryGiB: 24 };
const other: Machine = { ...machine, cpu: 'Other CPU' };

const run = {
  at: '2026-11-28T17:00:00.000Z',
  commit: 'abcdef01',
  isClean: true,
  node: '24.0.0',
  kernel: '6.1',
  load: 0.1,
};

/** Makes 25 pairs: the floor is about 100 ms, and Liminal's values are a multiple of it. */
const pairs = (ratio: number) =>
  Array.from({ length: 25 }, (_, index) => {
    const floor = 95 + ((index * 7) % 11);
    return { floor, ours: floor * (ratio + (((index * 3) % 7) - 3) / 100) };
  });

const ratio = (times: number): Figure => ({
  name: 'Claude | warm',
  ...ratioOf(pairs(times), 1.1),
  detail: 'in turn',
});

const single = (value: number, unit = 'MiB', atMost = 120): Figure => ({
  name: 'resident',
  value,
  unit,
  bound: { atMost },
  detail: 'just started',
});

const groupOf = (figures: Figure[], more: Partial<Group> = {}): Group => ({
  name: 'one',
  run,
  ended: 'whole',
  figures: figures.map(reportFigure),
  ...more,
});

const reportOf = (groups: Group[], on = machine): Report => ({ version: 1, machine: on, groups });

describe('a figure', () => {
  test('a figure of pairs is their median ratio, and shows both sides and the limit that follows from the floor', () => {
    const { value, interval, floor, verdict } = reportFigure(ratio(1.05));
    expect(value).toBeCloseTo(1.05, 5);
    expect(interval?.[0]).toBeLessThan(1.05);
    expect(interval?.[1]).toBeGreaterThan(1.05);
    expect(floor).toMatchObject({ unit: 'ms', floor: { count: 25, median: 100, p95: 105 } });
    expect(floor?.limit).toBeCloseTo(110, 5);
    expect(verdict).toBe('ok');
  });

  test('a figure of rates is a share in percent, and misses its bound if the share is smaller', () => {
    const figure = {
      name: 'a',
      detail: '',
      ...shareOf([{ floor: 200, ours: 90 }], 50, 'deltas/s'),
    };
    expect(reportFigure(figure)).toMatchObject({
      value: 45,
      verdict: 'MISS',
      floor: { limit: 100 },
    });
  });

  test('a figure of added time is the difference of the percentiles', () => {
    const floor = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const added = addedOf({ floor, ours: floor.map((ms) => ms + 2) }, 50, 5);
    expect(added).toMatchObject({ value: 2, floor: { limit: 11 } });
    expect(added.interval[0]).toBeLessThan(2);
    expect(added.interval[1]).toBeGreaterThan(2);
  });

  test('if a figure is not a number, the error contains the figure’s name', () => {
    expect(() => reportFigure(single(Number.NaN))).toThrow('"resident" is NaN');
  });

  test('the interval of a figure with few samples is their whole range; with many samples, a range near the percentile', () => {
    expect(intervalOf([3, 1, 2], 50)).toEqual([1, 3]);
    const many = Array.from({ length: 1_000 }, (_, index) => index);
    expect(intervalOf(many, 50)).toEqual([469, 530]);
    expect(intervalOf(many, 95)).toEqual([936, 963]);
    expect(percentileOf(many, 95).value).toBe(950);
  });
});

describe('a figure compared with an earlier report', () => {
  const against = (before: Figure, now: Figure, on = machine) =>
    compareFigure(reportFigure(now), machine, { machine: on, group: groupOf([before]) }).verdict;

  test('a ratio is worse or better if the intervals do not overlap', () => {
    expect(against(ratio(1.05), ratio(1.25))).toBe('worse');
    expect(against(ratio(1.25), ratio(1.05))).toBe('better');
  });

  test('a figure is the same if it changes by at most 5 %, or if the intervals overlap', () => {
    expect(against(ratio(1.05), ratio(1.09))).toBe('same');
    const wide = [1, 1.4, 1, 1.4, 1, 1.4].map((times) => ({ floor: 100, ours: 100 * times }));
    const noisy = { name: 'Claude | warm', detail: '', ...ratioOf(wide, 1.1) };
    expect(against(ratio(1.05), noisy)).toBe('same');
  });

  test('a share that has fallen is worse', () => {
    const share = (ours: number): Figure => {
      const all = Array.from({ length: 10 }, () => ({ floor: 100, ours }));
      return { name: 'share', detail: '', ...shareOf(all, 50, 'deltas/s') };
    };
    expect(against(share(80), share(60))).toBe('worse');
  });

  test('a single value is the same up to a change of 10 %, and every figure up to a change of 2 % of its bound', () => {
    expect(against(single(100), single(109))).toBe('same');
    expect(against(single(100), single(115))).toBe('worse');
    expect(against(single(1), single(3))).toBe('same');
  });

  test('if no loss is allowed, a figure with one loss is worse', () => {
    expect(against(single(0, '', 0), single(1, '', 0))).toBe('worse');
  });

  test('ratios of another machine are compared, and its absolute figures are not', () => {
    expect(against(ratio(1.05), ratio(1.25), other)).toBe('worse');
    expect(against(single(100), single(50), other)).toBe('apart');
  });

  test('a figure that the earlier report lacks, or lists with another unit, is new', () => {
    expect(against(single(100), ratio(1))).toBe('new');
    expect(against(single(100, 'KiB'), single(100))).toBe('new');
  });

  test('a figure is compared with this machine’s newest report, or, if this machine has none, with any machine’s newest report', () => {
    const at = (day: string, on: Machine) =>
      reportOf([groupOf([single(1)], { run: { ...run, at: `2026-11-${day}T00:00:00.000Z` } })], on);
    const all = [at('01', machine), at('03', other), at('02', machine)];
    expect(findEarlier('one', machine, all)?.group.run.at).toMatch('11-02');
    expect(findEarlier('one', { ...machine, cores: 8 }, all)?.group.run.at).toMatch('11-03');
    expect(findEarlier('two', machine, all)).toBeUndefined();
  });
});

describe('a kept report', () => {
  test('a kept report contains no samples, and its groups are replaced only by complete groups', async () => {
    const folder = await makeFolder();
    const of = (name: string, value: number, more = {}) =>
      groupOf([single(value), ratio(1)], { name, ...more });
    await storeReport(reportOf([of('one', 1), of('two', 1)]), folder);
    await storeReport(reportOf([of('one', 2), of('two', 2, { ended: 'crashed' })]), folder);
    expect(await readdir(folder)).toEqual(['2-test-cpu-2-ghz-24-gib.json']);
    const [kept] = await readStoredReports(folder);
    expect(kept?.groups.map(({ name, figures }) => [name, figures[0]?.value])).toEqual([
      ['one', 2],
      ['two', 1],
    ]);
    expect(kept?.groups[0]?.figures[1]?.floor?.ours).toMatchObject({ count: 25 });
    expect(JSON.stringify(kept)).not.toContain('samples');
  });

  test('each machine has one file for its kept report', async () => {
    const folder = await makeFolder();
    await storeReport(reportOf([groupOf([single(1)])]), folder);
    await storeReport(reportOf([groupOf([single(1)])], other), folder);
    expect(await readStoredReports(folder)).toHaveLength(2);
  });

  test('if a kept report is damaged or has another version, the error contains the file’s name', async () => {
    const folder = await makeFolder();
    const old = { ...reportOf([]), version: 0 };
    await writeFile(join(folder, 'old.json'), JSON.stringify(old));
    await expect(readStoredReports(folder)).rejects.toThrow(
      /old\.json is not a report of this version/,
    );
  });

  test('if no report was kept, the list of kept reports is empty', async () => {
    expect(await readStoredReports(join(await makeFolder(), 'none'))).toEqual([]);
    expect(mergeGroups(undefined, reportOf([])).groups).toEqual([]);
  });
});

describe('the report as Markdown', () => {
  const write = (report: Report, kept: Report[] = []): string =>
    writeMarkdown(report, compareReport(report, kept));

  test('the report shows the machine, the commit, the verdicts, and the median and P95 of both sides', () => {
    const text = write(reportOf([groupOf([ratio(1.05)])]));
    expect(text).toContain(
      '2 × Test CPU @ 2 GHz, 24 GiB, Node 24.0.0, kernel 6.1; commit abcdef01',
    );
    expect(text).toContain('Figures: 1. Beyond their bounds: none. None was kept before.');
    expect(text).toMatch(
      /\| Claude \\\| warm \| 1\.05 × \| ≤ 1\.1 × \| ok \| .* of 25 \| 100 \/ 105 ms/,
    );
    expect(text).toContain('![Measurements, floor and limit of one](one.svg)');
  });

  test('the report first lists the figures that miss their bound or are worse than the kept figures', () => {
    const kept = withoutSamples(reportOf([groupOf([ratio(1), single(100)])]));
    const report = reportOf([groupOf([ratio(1.2), single(130)])]);
    const text = write(report, [kept]);
    expect(text).toContain('2 worse, 0 better');
    const [, missed = ''] = /## Bounds that are missed\n\n(.*?)\n\n##/s.exec(text) ?? [];
    expect(missed).toContain(
      'resident: 130 MiB (≤ 120 MiB; kept: 100 MiB), `npm run bench -- one`',
    );
    expect(text).toContain('## Worse than what was kept');
    expect(text.indexOf('## Worse')).toBeLessThan(text.indexOf('## one'));
    expect(text).toContain('on this machine, Node 24.0.0, load 0.1');
  });

  test('the report mentions a crashed group with its error, a busy machine, and uncommitted changes', () => {
    const busy = { ...run, load: 3, isClean: false };
    const crashed = groupOf([], { ended: 'crashed', error: 'Redis is gone.', run: busy });
    const report = reportOf([crashed]);
    expect(write(report)).toContain('**It crashed.** Redis is gone.');
    expect(write(report)).toContain('one (3)');
    expect(write(report)).toContain('abcdef01 with changes');
    expect(summarise(compareReport(report, []))).toContain('The group one crashed.');
  });

  test('if the kept figures are from another machine, the report says from which machine', () => {
    const text = write(reportOf([groupOf([single(1)])]), [reportOf([groupOf([single(2)])], other)]);
    expect(text).toContain('on another machine (2 × Other CPU, 24 GiB)');
    expect(text).toContain('| 2 MiB | apart |');
  });
});

describe('a plot', () => {
  const count = (svg: string, what: RegExp): number => svg.match(what)?.length ?? 0;

  test('a plot shows both sides, a dot for each measurement, and the limit', () => {
    const svg = plotGroup(groupOf([ratio(1.05)]));
    expect(count(svg, /<circle class="dot floor"/g)).toBe(25);
    // The legend contains one more dot.
    expect(count(svg, /<circle class="dot ours"/g)).toBe(26);
    expect(svg).toContain('≤ limit 110 ms');
    expect(svg).toContain('Claude | warm');
  });

  test('a plot shows many measurements as columns, and prints how many measurements are beyond the edge', () => {
    const samples = Array.from({ length: 1_000 }, (_, index) => (index < 970 ? index % 10 : 500));
    const figure = { name: 'many', unit: 'ms', bound: { atMost: 20 }, detail: '' };
    const svg = plotGroup(groupOf([{ ...figure, ...percentileOf(samples, 50) }]));
    expect(count(svg, /<rect class="column ours"/g)).toBe(10);
    expect(svg).toContain('>+30<');
  });

  test('if the limit is far beyond all measurements, the plot points to the limit with an arrow', () => {
    expect(plotGroup(groupOf([single(1)]))).toContain('limit 120 MiB →');
  });

  test('a plot shows a single value as a bar, with a mark for the kept value', () => {
    const group = groupOf([single(100)]);
    const bar = /<rect class="column ours" x="80"/;
    expect(plotGroup(group)).toMatch(bar);
    // Without a kept value, only the legend shows the mark for kept values.
    expect(count(plotGroup(group), /class="kept"/g)).toBe(1);
    expect(
      count(
        plotGroup(group, () => 90),
        /class="kept"/g,
      ),
    ).toBe(2);
  });

  test('for arbitrary input, a plot is complete and escaped, and nothing is outside its border', () => {
    const figures = [single(0, '', 0), single(1, '<b>', 0), single(-1), ratio(1)];
    const svg = plotGroup(groupOf(figures));
    expect(svg).not.toMatch(/NaN|Infinity|undefined|<b>/);
    for (const [, x] of svg.matchAll(/ (?:x|x1|cx)="([^"]*)"/g)) {
      expect(Number(x)).toBeGreaterThanOrEqual(0);
      expect(Number(x)).toBeLessThanOrEqual(760);
    }
    expect(svg).not.toMatch(/d="M-/);
  });
});

test('a report is written as Markdown, as JSON that can be read again, and as a plot for each group', async () => {
  const folder = join(await makeFolder(), nameFolder(run));
  expect(folder).toMatch(/2026-11-28T17-00-00-abcdef01$/);
  const report = reportOf([groupOf([ratio(1)]), groupOf([], { name: 'none', ended: 'crashed' })]);
  await writeReport(folder, report, compareReport(report, []));
  expect((await readdir(folder)).toSorted()).toEqual(['one.svg', 'report.json', 'report.md']);
  const read: unknown = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
  expect(Report.parse(read)).toEqual(report);
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'liminal-report-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
