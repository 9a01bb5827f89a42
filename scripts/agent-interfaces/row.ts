/**
 * How Liminal treats something in an agent's interface. `used`: Liminal calls, answers or acts on it. `shown`: people see
 * what it says. `kept`: it stays in the log as it came, and no client shows it. `passed by`: it arrives, and is dropped.
 * `not used`: Liminal never asks for it, or refuses it.
 */
export type State = 'used' | 'shown' | 'kept' | 'passed by' | 'not used';

/** Names that are treated alike, and why. */
export type Row = readonly [state: State, names: string, because: string];

/** One kind of names in an agent's interface: each name that the agent declares stands in one row. */
export interface Section {
  title: string;
  rows: readonly Row[];
}

export const namesIn = ([, names]: Row): string[] => names.split(' ');

/** The state of each name. */
export const statesOf = ({ rows }: Section): Map<string, State> =>
  new Map(rows.flatMap((row) => namesIn(row).map((name) => [name, row[0]] as const)));

/** What the declared names and the rows differ in, in sentences. */
export function findProblems({ title, rows }: Section, declared: readonly string[]): string[] {
  const listed = rows.flatMap(namesIn);
  const twice = listed.filter((name, index) => listed.indexOf(name) !== index);
  return [
    ...declared
      .filter((name) => !listed.includes(name))
      .map((name) => `${title}: ${name} is declared, and stands in no row.`),
    ...listed
      .filter((name) => !declared.includes(name))
      .map((name) => `${title}: ${name} stands in a row, and is no longer declared.`),
    ...twice.map((name) => `${title}: ${name} stands in two rows.`),
  ];
}
