import type { ICruiseResult } from 'dependency-cruiser';
import { rules } from './rules.ts';

/** One line per broken rule: which rule, which file, what it imports, and what the rule is for. */
export function describeViolations({ summary }: ICruiseResult): string[] {
  return summary.violations.map(({ rule, from, to }) => {
    const comment = rules.find(({ name }) => name === rule.name)?.comment ?? '';
    return `${rule.name}: ${from} imports ${to}. ${comment}`;
  });
}
