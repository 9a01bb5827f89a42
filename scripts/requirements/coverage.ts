/** A test by its file and full name. */
export type NamedTest = { readonly file: string; readonly name: string };

/** A requirement with the tests that carry its id. */
export type Covered = {
  readonly id: string;
  readonly text: string;
  readonly tests: readonly NamedTest[];
};

/** Finds for each requirement the tests whose names carry its id. */
export function cover(
  catalogue: Readonly<Record<string, string>>,
  tests: readonly NamedTest[],
): Covered[] {
  return Object.entries(catalogue).map(([id, text]) => {
    const pattern = idPattern(id);
    return { id, text, tests: tests.filter((test) => pattern.test(test.name)) };
  });
}

/** The list that a person reads: each id with its text and its tests, or that it has none. */
export function describeCoverage({ id, text, tests }: Covered): string {
  const lines = tests.map(({ file, name }) => `    ${file} › ${name}`);
  return [`${id}  ${text}`, ...(lines.length > 0 ? lines : ['    NO TEST'])].join('\n');
}

/** The id as a word of its own: `TC-01` stands neither in `TC-012` nor in `TC-01.2`. */
function idPattern(id: string): RegExp {
  return new RegExp(String.raw`(?<![\w.-])${RegExp.escape(id)}(?!\w|\.\w)`);
}
