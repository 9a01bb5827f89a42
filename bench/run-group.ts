import { readFileSync } from 'node:fs';
import type { Figure } from './parts/figure.ts';
import { type Group, reportFigure, type ReportedFigure, type Run } from './report/report.ts';

/** Why a group has to end before it is through. */
export interface Cut {
  ended: 'crashed' | 'interrupted';
  error?: string;
}

interface Begun {
  name: string;
  run: Run;
  measure: () => AsyncGenerator<Figure>;
  /** Resolves if the group is to end at once. */
  cut: Promise<Cut>;
  onFigure: (figure: ReportedFigure) => void;
}

/** How long a group that is cut has to remove its folders, ms. */
const GRACE_MS = 10_000;

/** Measures a group until it ends, crashes or is cut: what it has given until then is in the report. */
export async function runGroup({ name, run, measure, cut, onFigure }: Begun): Promise<Group> {
  const figures: ReportedFigure[] = [];
  const earlier = readChildren();
  const steps = measure();
  try {
    for (;;) {
      const next = steps.next();
      const step = await Promise.race([next, cut]);
      if ('ended' in step) {
        await leave(steps, earlier, next);
        return { name, run, figures, ...step };
      }
      if (step.done === true) return { name, run, figures, ended: 'whole' };
      const figure = reportFigure(step.value);
      figures.push(figure);
      onFigure(figure);
    }
  } catch (error) {
    await leave(steps, earlier);
    return { name, run, figures, ended: 'crashed', error: describeError(error) };
  }
}

export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : ` (${describeError(error.cause)})`;
  return `${error.message}${cause}`;
}

/** Ends what the group has started; then its own tidying is through in a moment, or will not be. */
async function leave(
  steps: AsyncGenerator<Figure>,
  earlier: readonly number[],
  next?: Promise<unknown>,
): Promise<void> {
  for (const pid of readChildren()) if (!earlier.includes(pid)) end(pid);
  const tidied = Promise.resolve(next)
    .then(() => steps.return(undefined))
    .catch(() => undefined);
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, GRACE_MS);
  await Promise.race([tidied, late]);
  clearTimeout(timer);
}

/** The processes that this one has started, as Linux lists them. */
function readChildren(): number[] {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  return pids.split(' ').map(Number).filter(Boolean);
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has ended by itself.
  }
}
