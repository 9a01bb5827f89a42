/** Compares the requests of an agent's own terminal with Liminal's, line by line. */
import { diffArrays } from 'diff';

/** An allowed difference between Liminal's and the terminal's requests. */
export interface Difference {
  /** Matches a line of either request that the other request lacks. */
  line: RegExp;
  reason: string;
}

/** Texts that are different in each run, each with its replacement. */
export type Own = readonly (readonly [value: string | RegExp, name: string])[];

/** The fields of a request's body, as lines with the fields' paths. */
const linesOf = (body: object, own: Own): string[] =>
  leaves('', body).map((line) =>
    own.reduce((text, [value, name]) => text.replaceAll(value, name), line),
  );

function leaves(path: string, value: unknown): string[] {
  if (typeof value === 'string') return value.split('\n').map((line) => `${path}: ${line}`);
  if (Array.isArray(value)) {
    return value.flatMap((one: unknown) => leaves(`${path}[${nameOf(one)}]`, one));
  }
  if (typeof value !== 'object' || value === null) return [`${path}: ${String(value)}`];
  return Object.entries(value).flatMap(([key, inner]) => leaves(`${path}.${key}`, inner));
}

/**
 * The name of a tool, used in paths instead of its index, so that a tool of only one side does not shift the following
 * tools; empty for other values.
 */
function nameOf(value: unknown): string {
  const named = typeof value === 'object' && value !== null && 'name' in value;
  return named && 'description' in value && typeof value.name === 'string' ? value.name : '';
}

/**
 * Returns the lines that only the terminal (`-`) or only Liminal (`+`) sends and that match no allowed difference, each
 * with the number of its request. Adds the allowed differences that matched to `used`.
 */
export function compare(
  [terminal = [], here = []]: readonly (readonly object[])[],
  [ownOfTerminal = [], ownHere = []]: readonly Own[],
  differences: readonly Difference[],
  used: Set<object>,
): string[] {
  const isNamed = (line: string): boolean => {
    const named = differences.filter((one) => one.line.test(line));
    for (const one of named) used.add(one);
    return named.length > 0;
  };
  const count = Math.max(terminal.length, here.length);
  return Array.from({ length: count }).flatMap((_, at) => {
    const before = linesOf(terminal[at] ?? {}, ownOfTerminal);
    const after = linesOf(here[at] ?? {}, ownHere);
    return differing(before, after).flatMap(([sign, line]) =>
      isNamed(line) ? [] : [`${at + 1} ${sign} ${line}`],
    );
  });
}

const differing = (before: string[], after: string[]): ['+' | '-', string][] =>
  diffArrays(before, after).flatMap(({ added, removed, value }) => {
    const sign = added ? '+' : '-';
    return added || removed ? value.map((line): ['+' | '-', string] => [sign, line]) : [];
  });
