/** The contents of a report, as JSON. */
import { z } from 'zod';
import { type Figure, meets, percentile } from '../parts/figure.ts';

const Interval = z.tuple([z.number(), z.number()]);

/** A summary of repeated measurements. A kept report has no samples. */
const Distribution = z.object({
  count: z.number().int(),
  median: z.number(),
  p95: z.number(),
  least: z.number(),
  most: z.number(),
  samples: z.array(z.number()).optional(),
});
export type Distribution = z.infer<typeof Distribution>;

const ReportedFigure = z.object({
  name: z.string(),
  value: z.number(),
  /** The unit. Values in `×`, in `%` and without a unit (counts) are comparable across machines. */
  unit: z.string(),
  bound: z.union([z.object({ atMost: z.number() }), z.object({ atLeast: z.number() })]),
  verdict: z.enum(['ok', 'MISS']),
  detail: z.string(),
  /** The interval that would contain the value of another run in 95 of 100 cases, estimated from the samples. */
  interval: Interval.optional(),
  /** The measurements from which the value was computed, in the same unit. */
  distribution: Distribution.optional(),
  /**
   * The two series of values that were compared in the same run, both in `unit`. The figure meets its bound if the
   * median of `ours` is at most `limit`.
   */
  floor: z
    .object({ unit: z.string(), floor: Distribution, ours: Distribution, limit: z.number() })
    .optional(),
});
export type ReportedFigure = z.infer<typeof ReportedFigure>;

/** The circumstances of a group's measurement, without the machine. */
const Run = z.object({
  /** The start of the measurement. */
  at: z.iso.datetime(),
  commit: z.string(),
  /** Whether the working tree had no changes since the commit. */
  isClean: z.boolean(),
  node: z.string(),
  kernel: z.string(),
  /** The average number of processes that ran or waited for a core in the minute before the measurement. */
  load: z.number(),
});
export type Run = z.infer<typeof Run>;

const Group = z.object({
  name: z.string(),
  run: Run,
  /** How the group ended. A group that did not end as `whole` may lack figures. */
  ended: z.enum(['whole', 'crashed', 'interrupted']),
  error: z.string().optional(),
  figures: z.array(ReportedFigure),
});
export type Group = z.infer<typeof Group>;

const Machine = z.object({
  cpu: z.string(),
  cores: z.number().int(),
  memoryGiB: z.number(),
});
export type Machine = z.infer<typeof Machine>;

export const Report = z.object({
  /** The version of the report's format. */
  version: z.literal(1),
  machine: Machine,
  groups: z.array(Group),
});
export type Report = z.infer<typeof Report>;

/** Converts a figure for the report. Throws if the value is not a number, because measurements are then missing. */
export function reportFigure(figure: Figure): ReportedFigure {
  const { name, value, unit, bound, detail, samples, interval, floor } = figure;
  if (!Number.isFinite(value)) throw new Error(`"${name}" is ${value}: ${detail}`);
  return {
    name,
    value: short(value),
    unit,
    bound,
    verdict: meets(figure) ? 'ok' : 'MISS',
    detail,
    ...(interval && { interval: [short(interval[0]), short(interval[1])] }),
    ...(samples && { distribution: distributionOf(samples) }),
    ...(floor && {
      floor: {
        unit: floor.unit,
        floor: distributionOf(floor.samples),
        ours: distributionOf(floor.ours),
        limit: short(floor.limit),
      },
    }),
  };
}

/** Returns the report in the form in which it is kept: a few numbers for each figure instead of all measurements. */
export function withoutSamples(report: Report): Report {
  const text = JSON.stringify(report, (key, value: unknown) =>
    key === 'samples' ? undefined : value,
  );
  return Report.parse(JSON.parse(text));
}

function distributionOf(samples: readonly number[]): Distribution {
  return {
    count: samples.length,
    median: short(percentile(samples, 50)),
    p95: short(percentile(samples, 95)),
    least: short(Math.min(...samples)),
    most: short(Math.max(...samples)),
    samples: samples.map(short),
  };
}

/** Rounds a number to 5 digits, because more digits are noise. */
const short = (value: number): number => Number(value.toPrecision(5));
