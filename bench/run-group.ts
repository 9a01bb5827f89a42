import { readFileSync } from 'node:fs';
import type { Figure } from './parts/figure.ts';
import { type Group, reportFigure, type ReportedFigure, type Run } from './report/report.ts';

/** The reason why a group is ended early. */
export interface Cut {
  ended: 'crashed' | 'interrupted';
  error?: string;
}

interface Begun {
  name: string;
  run: Run;
  measure: () => AsyncGenerator<Figure>;
  /** Resolves when the group must end at once. */
  cut: Promise<Cut>;
  onFigure: (figure: ReportedFigure) => void;
}

/** The time that a group has to remove its folders after it is ended early, in ms. */
const graceMs = 10_000;

/**
 * Measures a group until it ends, crashes or is ended early. The result contains the figures that were measured until
 * then.
 */
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

/** Ends the processes that the group started, and waits a short time until the group has cleaned up. */
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
  const timer = setTimeout(resolve, graceMs);
  await Promise.race([tidied, late]);
  clearTimeout(timer);
}

/** Returns the ids of this process's child processes, as Linux lists them. */
function readChildren(): number[] {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  return pids.split(' ').map(Number).filter(Boolean);
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // The process has already ended by itself.
  }
}
