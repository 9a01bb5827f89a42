/** Claude Code's tool for asking people; the questions of a call become the fields of one form. */
import type { PermissionResult } from '@anthropic-ai/claude-agent-sdk';
import type { ApprovalOption, Form, FormContent, FormField } from '@liminal/protocol';
import { z } from 'zod';
import type { ApprovalQuestion } from '../../base/pending-approvals.ts';

const Question = z.looseObject({
  question: z.string(),
  header: z.string().optional().catch(undefined),
  multiSelect: z.boolean().catch(false),
  options: z.array(
    z.looseObject({
      label: z.string(),
      description: z.string().optional().catch(undefined),
      preview: z.string().optional().catch(undefined),
    }),
  ),
});
export type Question = z.infer<typeof Question>;

const QuestionsInput = z.looseObject({ questions: z.array(Question) });

const options: ApprovalOption[] = [
  { optionId: 'allow_once', name: 'Answer', kind: 'allow_once' },
  { optionId: 'reject_once', name: 'Skip', kind: 'reject_once', takesNote: true },
];

/** Returns the questions of an AskUserQuestion call; empty if the input cannot be read. */
export const readQuestions = (input: unknown): Question[] =>
  QuestionsInput.safeParse(input).data?.questions ?? [];

/** Returns the form with the questions for people; `answerQuestions` reads their answers. */
export function questionForm(questions: readonly Question[]): ApprovalQuestion & { form: Form } {
  const fields = questions.map(
    (question, index) => [fieldName(index), field(question, questions.length > 1)] as const,
  );
  const subjects = questions.map(({ header, question }) => header ?? question).join(', ');
  const [first] = questions;
  return {
    title:
      first && questions.length === 1
        ? first.question
        : `${questions.length} questions: ${subjects}`,
    options,
    form: { properties: Object.fromEntries(fields), required: fields.map(([name]) => name) },
  };
}

/** Returns the call's input with the answers, in the form of Claude Code's own terminal. */
export function answerQuestions(
  input: Record<string, unknown>,
  questions: readonly Question[],
  content: FormContent,
): Record<string, unknown> {
  const answers: Record<string, string> = {};
  const annotations: Record<string, { preview: string }> = {};
  for (const [index, { question, multiSelect, options: offered }] of questions.entries()) {
    const given = content[fieldName(index)] ?? [];
    const answer = Array.isArray(given) ? joined(given) : String(given);
    if (answer !== '') answers[question] = answer;
    const chosen = multiSelect ? undefined : offered.find(({ label }) => label === answer);
    if (chosen?.preview !== undefined) annotations[question] = { preview: chosen.preview };
  }
  return { ...input, answers, annotations };
}

/** Returns the result that the model reads for unanswered questions. */
export const notAnswered = (note: string | undefined): PermissionResult => ({
  behavior: 'deny',
  message:
    note === undefined
      ? 'The user does not want to answer.'
      : `The user did not answer, and says: ${note}`,
});

const fieldName = (index: number): string => `question_${index + 1}`;

/** Returns a question's field. A single question is the form's title, so the question's field has only the header. */
function field(
  { question, header, multiSelect, options: offered }: Question,
  isOneOfMany: boolean,
): FormField {
  const choices = offered.map(({ label, description, preview }) => ({
    const: label,
    title: label,
    ...(description !== undefined && { description }),
    ...(preview !== undefined && { preview }),
  }));
  const named = isOneOfMany
    ? { title: question, ...(header !== undefined && { header }), other: true }
    : { title: header ?? question, other: true };
  return multiSelect
    ? { type: 'array', ...named, items: { anyOf: choices } }
    : { type: 'string', ...named, oneOf: choices };
}

/** Joins answers with commas; an answer that contains a comma or quotes is quoted. */
const joined = (labels: readonly string[]): string =>
  labels
    .map((label) => (label.includes(', ') || label.includes('"') ? JSON.stringify(label) : label))
    .join(', ');
