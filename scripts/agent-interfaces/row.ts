/**
 * How Liminal handles a part of an agent's interface. `used`: Liminal calls, answers or handles the name. `shown`:
 * users see the content. `kept`: the log contains the value unchanged, and no client shows it. `passed by`: Liminal
 * receives the value and ignores it. `not used`: Liminal never requests the name, or rejects it.
 */
export type State = 'used' | 'shown' | 'kept' | 'passed by' | 'not used';

/** Names that Liminal handles in the same way, and the reason. */
export type Row = readonly [state: State, names: string, because: string];

/** One kind of names in an agent's interface. Each declared name is in exactly one row. */
export interface Section {
  title: string;
  rows: readonly Row[];
}

export const namesIn = ([, names]: Row): string[] => names.split(' ');

/** Returns the state of each name. */
export const statesOf = ({ rows }: Section): Map<string, State> =>
  new Map(rows.flatMap((row) => namesIn(row).map((name) => [name, row[0]] as const)));

/** Returns a sentence for each difference between the declared names and the rows. */
export function findProblems({ title, rows }: Section, declared: readonly string[]): string[] {
  const listed = rows.flatMap(namesIn);
  const twice = listed.filter((name, index) => listed.indexOf(name) !== index);
  return [
    ...declared
      .filter((name) => !listed.includes(name))
      .map((name) => `${title}: ${name} is declared, but has no row.`),
    ...listed
      .filter((name) => !declared.includes(name))
      .map((name) => `${title}: ${name} has a row, but is no longer declared.`),
    ...twice.map((name) => `${title}: ${name} has two rows.`),
  ];
}
