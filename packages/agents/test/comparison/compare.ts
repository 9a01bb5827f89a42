/** The requests of an agent's own terminal beside those of Liminal, line by line. */
import { diffArrays } from 'diff';

/** A way in which a request of Liminal's may differ from the terminal's. */
export interface Difference {
  /** Of a line of either request. */
  line: RegExp;
  reason: string;
}

/** Texts that differ in each run, with their replacements. */
export type Own = readonly (readonly [value: string | RegExp, name: string])[];

/** Each field of a body as lines, with its path. */
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

/** Tools are named, so that a tool which only one side has moves none of the others. */
function nameOf(value: unknown): string {
  const named = typeof value === 'object' && value !== null && 'name' in value;
  return named && 'description' in value && typeof value.name === 'string' ? value.name : '';
}

/**
 * The lines that only the terminal (`-`) or only Liminal (`+`) sends and that no difference names, each with the number
 * of its request. Notes in `used` the differences that name some.
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
