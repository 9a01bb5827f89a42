/** The question that Codex' own terminal asks after a plan. */
import type { ApprovalOutcome } from '@liminal/protocol';
import type { ApprovalQuestion } from '../base/pending-approvals.ts';
import { isRecord } from '../base/parse-line.ts';

export const implementPlan: ApprovalQuestion = {
  title: 'Implement this plan?',
  options: [
    { optionId: 'implement', kind: 'allow_once', name: 'Implement it', takesNote: true },
    { optionId: 'stay', kind: 'reject_once', name: 'Keep planning', takesNote: true },
  ],
};

/** Codex' next message after the answer; undefined if Codex is to wait. */
export function wordsAfterPlan(outcome: ApprovalOutcome): string | undefined {
  if (outcome.outcome === 'cancelled' || outcome.optionId !== 'implement') {
    return outcome.outcome === 'cancelled' ? undefined : outcome.note;
  }
  const { note } = outcome;
  return note === undefined ? 'Implement the plan.' : `Implement the plan.\n\n${note}`;
}

/** Whether Codex has completed a proposed plan. */
export const isPlan = (method: string, item: unknown): boolean =>
  method === 'item/completed' && isRecord(item) && item['type'] === 'plan';
