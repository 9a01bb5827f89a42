import type { ApprovalOutcome, Form } from '../content.ts';
import { isSecret } from './read-fields.ts';

/** The text that replaces an answer that must not be stored. */
export const maskedAnswer = '••••••';

/** Returns the outcome, in which the answers to secret fields of the form are masked. */
export function maskSecrets(form: Form | undefined, outcome: ApprovalOutcome): ApprovalOutcome {
  if (form === undefined || outcome.outcome !== 'selected') return outcome;
  const { content } = outcome;
  if (content === undefined) return outcome;
  const masked = Object.entries(content).map(([name, value]) => {
    const field = Object.hasOwn(form.properties, name) ? form.properties[name] : undefined;
    return [name, field !== undefined && isSecret(field) ? maskedAnswer : value] as const;
  });
  return { ...outcome, content: Object.fromEntries(masked) };
}
