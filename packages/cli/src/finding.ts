import { cleanText } from './terminal/clean-text.ts';
import { oneRow } from './terminal/rows.ts';

/** The result of a check. The result is printed as one line. */
export interface Finding {
  /** `bad`: the checked part does not work. `poor`: the checked part works, but lacks something. */
  verdict: 'good' | 'poor' | 'bad';
  text: string;
}

const marks = { good: 'ok  ', poor: 'note', bad: 'FAIL' };

export function findingLine({ verdict, text }: Finding): string {
  return `${marks[verdict]}  ${oneRow(cleanText(text))}`;
}
