/** Formats figures for the terminal, the report and its plots. */
import type { Figure } from '../parts/figure.ts';
import type { Machine, Run } from './report.ts';

/** Formats a number with at most four significant digits: `1,234,000`, `17.64`, `0.00006`. */
export function readable(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 4 });
}

export function boundText({ bound, unit }: Pick<Figure, 'bound' | 'unit'>): string {
  const limit = 'atMost' in bound ? `≤ ${readable(bound.atMost)}` : `≥ ${readable(bound.atLeast)}`;
  return `${limit} ${unit}`.trim();
}

export function machineText({ cores, cpu, memoryGiB }: Machine): string {
  return `${cores} × ${cpu}, ${memoryGiB} GiB`;
}

export function commitText({ commit, isClean }: Pick<Run, 'commit' | 'isClean'>): string {
  return isClean ? commit : `${commit} with changes`;
}

/** Whether the load was so high that other programs must have disturbed the measurement. */
export function isBusy({ load }: Run, { cores }: Machine): boolean {
  return load > cores / 2;
}
