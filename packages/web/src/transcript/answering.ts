import { type ApprovalOption, type ApprovalUpsert, defaultOption } from '@liminal/protocol';
import { filledRows } from '../forms/filled-rows.ts';

/**
 * The order of options: first the options that allow, then the options that reject; within both, those that are hardest
 * to undo come last. Options that need a deliberate answer come after all others.
 */
const order: ApprovalOption['kind'][] = [
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
];

export function sortOptions(options: readonly ApprovalOption[]): ApprovalOption[] {
  const place = ({ kind, isUnclear }: ApprovalOption) =>
    order.indexOf(kind) + (isUnclear === true ? order.length : 0);
  return options.toSorted((a, b) => place(a) - place(b));
}

/**
 * Returns the options that the keys Enter (`allow`) and Escape (`deny`) choose. Neither of the keys grants anything
 * permanently.
 */
export function keyAnswers(approval: ApprovalUpsert): {
  allow: ApprovalOption | undefined;
  deny: ApprovalOption | undefined;
} {
  const { options } = approval;
  return { allow: defaultOption(options, 'allow'), deny: defaultOption(options, 'reject') };
}

/** Returns the label of the decision. */
export function outcomeWords(approval: ApprovalUpsert): string {
  const { outcome } = approval;
  if (outcome?.outcome === 'selected') {
    const chosen = approval.options.find((option) => option.optionId === outcome.optionId);
    return chosen?.name ?? outcome.optionId;
  }
  const { reason } = outcome ?? {};
  if (reason === undefined) return 'Not answered';
  // A reason that is not in the table is a text of the agent itself.
  const why = Object.hasOwn(unanswered, reason) ? unanswered[reason] : undefined;
  return why === undefined ? reason : `Not answered: ${why}`;
}

/** Returns the decision in words, for example “Allowed once”. A special answer is quoted. */
export function decisionWords(approval: ApprovalUpsert): string {
  const { options, outcome } = approval;
  if (outcome?.outcome !== 'selected') return outcomeWords(approval);
  const chosen = options.find((option) => option.optionId === outcome.optionId);
  if (chosen === undefined) return outcomeWords(approval);
  if (/^skip$/i.test(chosen.name)) return 'Skipped';
  return isPlain(chosen.name) ? decided[chosen.kind] : `Answered “${chosen.name}”`;
}

/** Whether a name contains no more information than the kind of the option. */
const isPlain = (name: string): boolean =>
  /^(?:always )?(?:accept|allow|approve|decline|deny|no|ok|reject|yes)(?: always| once)?$/i.test(
    name,
  );

const decided: Record<ApprovalOption['kind'], string> = {
  allow_once: 'Allowed once',
  allow_always: 'Always allowed',
  reject_once: 'Rejected',
  reject_always: 'Always rejected',
};

/** The labels of requests without an answer, by the reason in the log. */
const unanswered: Partial<Record<string, string>> = {
  deadline: 'the agent went on without an answer',
  turn_ended: 'the turn ended',
  process_ended: 'the agent ended',
  cancelled: 'the turn was stopped',
};

/** Returns the text of a person’s answer: a note, or the values of a form. Undefined if the answer has no text. */
export function approvalAnswerText({ form, outcome }: ApprovalUpsert): string | undefined {
  if (outcome?.outcome !== 'selected') return undefined;
  const { note = '', content = {} } = outcome;
  const answers = filledRows(form, content).map(({ text }) => text);
  const words = [...answers, note].map((text) => text.trim()).filter((text) => text !== '');
  const isLong = words.some((text) => text.includes('\n'));
  return words.join(isLong ? '\n\n' : '; ') || undefined;
}

export function wasAllowed(approval: ApprovalUpsert): boolean {
  const { outcome } = approval;
  return outcome?.outcome === 'selected' && isAllowing(approval, outcome.optionId);
}

export function isAllowing({ options }: ApprovalUpsert, optionId: string): boolean {
  const option = options.find((one) => one.optionId === optionId);
  return option?.kind.startsWith('allow') ?? false;
}

/**
 * Whether the request has a form to fill in, and does not only ask for a permission. A form without fields does not
 * count.
 */
export function asksSomething({ form }: ApprovalUpsert): boolean {
  return form !== undefined && Object.keys(form.properties).length > 0;
}
