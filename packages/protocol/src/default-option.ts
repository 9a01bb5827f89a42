import type { ApprovalOption } from './content.ts';

/**
 * Returns the option that a default may choose: an answer at a deadline, without a person to ask, or by one key.
 * Undefined if no option may be chosen. A default never grants permanently, never chooses between several ways to
 * allow, and never chooses an option whose kind is unknown, or whose id another option of a different kind also has.
 */
export function defaultOption(
  options: readonly ApprovalOption[],
  answer: 'allow' | 'reject',
): ApprovalOption | undefined {
  const clear = options.filter(
    ({ optionId, kind, isUnclear }) =>
      isUnclear !== true && !options.some((one) => one.optionId === optionId && one.kind !== kind),
  );
  const of = (kind: ApprovalOption['kind']) => clear.filter((option) => option.kind === kind);
  if (answer === 'reject') return of('reject_once')[0] ?? of('reject_always')[0];
  const allowing = of('allow_once');
  return allowing.length === 1 ? allowing[0] : undefined;
}
