/** Claude Code's tool for asking people: each of its questions is put as an approval whose options are its answers. */
import { z } from 'zod';
import type { ApprovalOption } from '@liminal/protocol';

export interface Question {
  question: string;
  choices: ApprovalOption[];
}

const Input = z.looseObject({
  questions: z.array(
    z.looseObject({
      question: z.string(),
      options: z.array(z.looseObject({ label: z.string() })),
    }),
  ),
});

/** The questions of a call of AskUserQuestion; none if it is not understood. */
export function readQuestions(input: unknown): Question[] {
  const questions = Input.safeParse(input).data?.questions ?? [];
  return questions.map(({ question, options }) => ({
    question,
    choices: [
      ...options.map(({ label }, index) => ({
        optionId: `answer_${index}`,
        name: label,
        kind: 'allow_once' as const,
      })),
      { optionId: 'reject_once', name: 'Do not answer', kind: 'reject_once' as const },
    ],
  }));
}

/** The call's input with the answers in it, which is how Claude Code takes them. */
export const answerQuestions = (
  input: Record<string, unknown>,
  questions: readonly Question[],
  answers: readonly string[],
): Record<string, unknown> => ({
  ...input,
  answers: Object.fromEntries(
    questions.map(({ question }, index) => [question, answers[index] ?? '']),
  ),
});
