import type { z } from 'zod';

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

/**
 * Validates a client’s input with a schema. Returns the parsed value, or one problem for each wrong field, for example
 * "`title` is missing; `limit` must be at most 200".
 */
export function parseInput<S extends z.ZodType>(
  schema: S,
  value: unknown,
  nameOf = (path: string): string => `\`${path}\``,
): { value: z.output<S> } | { problems: string } {
  const ownMessages = new Set<string>();
  const error = (issue: RawIssue): string => {
    const problem = problemOf(issue);
    ownMessages.add(problem);
    return problem;
  };
  const parsed = schema.safeParse(value, { error });
  if (parsed.success) return { value: parsed.data };
  const problems = parsed.error.issues.map(({ path, message }) => {
    const name = path.length === 0 ? '' : nameOf(path.join('.'));
    // A schema may contain its own message for this problem.
    if (!ownMessages.has(message)) return name === '' ? message : `${name}: ${message}`;
    return `${name === '' ? 'it' : name} ${message}`;
  });
  return { problems: problems.join('; ') };
}

function problemOf(issue: RawIssue): string {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return isEmpty(issue.input)
        ? 'is empty'
        : `must ${bound(issue.origin, 'least', issue.minimum)}`;
    case 'too_big':
      return `must ${bound(issue.origin, 'most', issue.maximum)}`;
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`;
    case 'invalid_union':
      return Array.isArray(issue['options'])
        ? `must be ${oneOf(issue['options'] as string[])}`
        : 'has an unsupported type';
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.join(', ')}`;
    default:
      return 'is not valid';
  }
}

const kinds: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const units: Record<string, string> = { string: 'characters', array: 'entries' };

const isEmpty = (input: unknown): boolean =>
  input === '' || (Array.isArray(input) && input.length === 0);

function bound(origin: string, which: 'least' | 'most', limit: number | bigint): string {
  const unit = units[origin];
  return unit === undefined ? `be at ${which} ${limit}` : `have at ${which} ${limit} ${unit}`;
}

function oneOf(values: readonly unknown[]): string {
  const [first, ...others] = values.map((value) => JSON.stringify(value));
  return others.length === 0 ? `${first}` : `one of ${[first, ...others].join(', ')}`;
}
