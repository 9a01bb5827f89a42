import {
  type Form,
  type FormContent,
  type Field,
  type FieldValue,
  readFields,
} from '@liminal/protocol';
import { useMemo, useState } from 'react';
import { type Answers, type CheckedForm, checkForm, initialAnswers } from './check-answers.ts';

export interface FormState {
  fields: readonly Field[];
  answers: Answers;
  /** The problems by field; empty before the first attempt to send. */
  problems: CheckedForm['problems'];
  change: (name: string, value: FieldValue) => void;
  /**
   * Returns the content to send. If there are problems, shows them and returns the name of the first field with a
   * problem.
   */
  check: () => { content: FormContent } | { firstProblem: string | undefined };
}

const none: CheckedForm['problems'] = new Map();

/** Returns the state of a form while it is being filled in. */
export function useAnswers(form: Form | undefined): FormState {
  const fields = useMemo(() => readFields(form), [form]);
  const [changed, setChanged] = useState<Answers>({});
  const [tried, setTried] = useState(false);
  const answers = { ...initialAnswers(fields), ...changed };
  const { content, problems } = checkForm(fields, answers);
  return {
    fields,
    answers,
    problems: tried ? problems : none,
    change: (name, value) => setChanged((before) => ({ ...before, [name]: value })),
    check: () => {
      setTried(true);
      if (content !== undefined) return { content };
      return { firstProblem: fields.find(({ name }) => problems.has(name))?.name };
    },
  };
}
