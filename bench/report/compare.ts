/**
 * Compares a run with an earlier run: which figures are better, which are worse, and which have not changed beyond the
 * noise.
 */
import type { Group, Machine, Report, ReportedFigure } from './report.ts';

export interface Comparison {
  /**
   * `apart`: the figure is absolute and was measured on another machine. `new`: the earlier report does not contain the
   * figure.
   */
  verdict: 'better' | 'worse' | 'same' | 'apart' | 'new';
  /** The earlier value. */
  before?: number;
}

/** A group of an earlier report, and the machine on which the group was measured. */
export interface Earlier {
  machine: Machine;
  group: Group;
}

/** A group, and the earlier group with which it is compared. */
export interface Compared {
  group: Group;
  earlier: Earlier | undefined;
  figures: { figure: ReportedFigure; comparison: Comparison }[];
}

/**
 * The largest difference between two runs of the same code, as a share of the value: `sampled` for figures with several
 * samples, `single` for figures without.
 */
const tolerances = { sampled: 0.05, single: 0.1 };
/** A difference below this share of the bound is ignored. */
const ofBound = 0.02;

export function compareReport({ machine, groups }: Report, kept: readonly Report[]): Compared[] {
  return groups.map((group) => {
    const earlier = findEarlier(group.name, machine, kept);
    const figures = group.figures.map((figure) => ({
      figure,
      comparison: compareFigure(figure, machine, earlier),
    }));
    return { group, earlier, figures };
  });
}

/** Returns a group's newest kept report: of this machine, or, if this machine has none, of any machine. */
export function findEarlier(
  name: string,
  machine: Machine,
  kept: readonly Report[],
): Earlier | undefined {
  const all = kept.flatMap((report) =>
    report.groups
      .filter((group) => group.name === name)
      .map((group) => ({ machine: report.machine, group })),
  );
  const newest = all.toSorted((a, b) => b.group.run.at.localeCompare(a.group.run.at));
  return newest.find((one) => isSameMachine(one.machine, machine)) ?? newest[0];
}

export function isSameMachine(a: Machine, b: Machine): boolean {
  return a.cpu === b.cpu && a.cores === b.cores && a.memoryGiB === b.memoryGiB;
}

/**
 * Compares a figure with its earlier value. A difference counts if it is larger than the tolerance and the 95 %
 * intervals of both values do not overlap. Absolute figures are compared on the same machine only.
 */
export function compareFigure(
  figure: ReportedFigure,
  machine: Machine,
  earlier: Earlier | undefined,
): Comparison {
  const before = earlier?.group.figures.find(
    ({ name, unit }) => name === figure.name && unit === figure.unit,
  );
  if (earlier === undefined || before === undefined) return { verdict: 'new' };
  if (!saysTheSameAnywhere(figure.unit) && !isSameMachine(machine, earlier.machine))
    return { verdict: 'apart', before: before.value };
  return { verdict: judge(figure, before), before: before.value };
}

function judge(figure: ReportedFigure, before: ReportedFigure): 'better' | 'worse' | 'same' {
  const { bound, value, interval } = figure;
  const isSampled = interval !== undefined && before.interval !== undefined;
  const limit = 'atMost' in bound ? bound.atMost : bound.atLeast;
  const tolerance = Math.max(
    Math.abs(before.value) * (isSampled ? tolerances.sampled : tolerances.single),
    Math.abs(limit) * ofBound,
  );
  const rise = value - before.value;
  if (Math.abs(rise) <= tolerance) return 'same';
  if (isSampled && overlap(interval, before.interval ?? interval)) return 'same';
  return rise < 0 === 'atMost' in bound ? 'better' : 'worse';
}

function overlap(a: readonly [number, number], b: readonly [number, number]): boolean {
  return a[0] <= b[1] && b[0] <= a[1];
}

/** Returns whether values in this unit are comparable across machines: ratios, shares and counts are. */
function saysTheSameAnywhere(unit: string): boolean {
  return unit === '' || unit === '%' || unit.startsWith('×');
}
