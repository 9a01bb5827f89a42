import type { ApprovalOption } from './content.ts';

/**
 * Returns the option that a default may choose: at a deadline, if there is no person to ask, or for a single key press.
 * Returns undefined if no option may be chosen. A default never grants a permission permanently. If several options
 * allow the call, a default chooses none of them. A default never chooses an option whose kind is unknown, or an option
 * that shares its id with an option of another kind.
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
