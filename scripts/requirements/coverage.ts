import type { Requirement } from './catalogue.ts';

/** A test with its file, the names of its suites, and its own name. */
export type NamedTest = {
  readonly file: string;
  readonly suites: readonly string[];
  readonly name: string;
};

/** A requirement with the tests that prove it. */
export type Covered = {
  readonly id: string;
  readonly text: string;
  /** The work that will build the requirement. */
  readonly open?: string;
  /** The groups of figures that measure the requirement. */
  readonly figures?: string;
  readonly tests: readonly NamedTest[];
};

export type Catalogue = Readonly<Record<string, Requirement>>;

/**
 * Finds the tests of each requirement: the tests whose names contain its id. The tests of an acceptance criterion are
 * those of its test cases.
 */
export function cover(catalogue: Catalogue, tests: readonly NamedTest[]): Covered[] {
  return Object.entries(catalogue).map(([id, requirement]) => {
    const described = typeof requirement === 'string' ? { text: requirement } : requirement;
    const pattern = id.startsWith('AC-') ? testCasesOf(id) : idPattern(RegExp.escape(id));
    return { id, ...described, tests: tests.filter(({ name }) => pattern.test(name)) };
  });
}

/** Returns the problems of a catalogue and its tests, one sentence for each. */
export function findProblems(catalogue: Catalogue, tests: readonly NamedTest[]): string[] {
  const isAnyId = anyId(catalogue);
  const idsIn = (name: string): string[] => name.match(isAnyId) ?? [];
  const unknown = tests.flatMap(({ name }) => idsIn(name).filter((id) => !(id in catalogue)));
  const inSuites = tests.flatMap(({ suites }) => suites.filter((name) => idsIn(name).length > 0));
  const covered = cover(catalogue, tests);
  const bare = covered.filter(({ open, figures, tests: proof }) => {
    return !open && !figures && proof.length === 0;
  });
  const built = covered.filter(({ open, tests: proof }) => open && proof.length > 0);
  return [
    ...bare.map(({ id }) => `${id} has no test, and is not open.`),
    ...built.map(({ id, open }) => `${id} is open (${open}), yet has a test: it is built.`),
    ...unique(unknown).map((id) => `${id} is in a test’s name, but not in the catalogue.`),
    ...unique(inSuites).map((name) => `"${name}" is a suite: an id belongs to a test.`),
  ];
}

/** Returns lines for readers: a requirement's id and text, and its tests or a note that it has none. */
export function describeCoverage({ id, text, open, figures, tests }: Covered): string {
  const lines = tests.map(({ file, suites, name }) => `    ${[file, ...suites, name].join(' › ')}`);
  const measured = figures ? `    measured: npm run bench -- ${figures}` : '    NO TEST';
  const none = open ? `    open: ${open}` : measured;
  return [`${id}  ${text}`, ...(lines.length > 0 ? lines : [none])].join('\n');
}

/**
 * Returns an expression that finds the id as a separate word: `TC-01` is found neither in `TC-012` nor in `TC-01.2`.
 */
const idPattern = (id: string): RegExp => new RegExp(String.raw`(?<![\w.-])${id}(?!\w|\.\w)`);

/** Returns an expression that finds the test cases of a criterion: `TC-1.1a`, `TC-1.1b`, … prove `AC-1.1`. */
const testCasesOf = (criterion: string): RegExp =>
  idPattern(`${RegExp.escape(criterion.replace('AC', 'TC'))}[a-z]`);

/**
 * Returns an expression that matches every text that looks like an id of the catalogue, whether or not the catalogue
 * contains this id.
 */
function anyId(catalogue: Catalogue): RegExp {
  const kinds = unique(Object.keys(catalogue).map((id) => id.replace(/-.*/, '')));
  return new RegExp(String.raw`(?<![\w.-])(?:${kinds.join('|')})-\d(?:[\w.-]*\w)?`, 'g');
}

const unique = (words: readonly string[]): string[] => [...new Set(words)];
