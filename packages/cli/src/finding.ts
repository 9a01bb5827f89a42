import { cleanText } from './terminal/clean-text.ts';
import { oneRow } from './terminal/rows.ts';

/** The result of a check, as a line for people. */
export interface Finding {
  /** `bad`: it does not work. `poor`: it works, but something is missing. */
  verdict: 'good' | 'poor' | 'bad';
  text: string;
}

const marks = { good: 'ok  ', poor: 'note', bad: 'FAIL' };

export function findingLine({ verdict, text }: Finding): string {
  return `${marks[verdict]}  ${oneRow(cleanText(text))}`;
}
