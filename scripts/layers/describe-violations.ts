import type { ICruiseResult } from 'dependency-cruiser';
import { rules } from './rules.ts';

/** Returns one line per violation: the rule, the file, the import, and the purpose of the rule. */
export function describeViolations({ summary }: ICruiseResult): string[] {
  return summary.violations.map(({ rule, from, to }) => {
    const comment = rules.find(({ name }) => name === rule.name)?.comment ?? '';
    return `${rule.name}: ${from} imports ${to}. ${comment}`;
  });
}
