// Writes docs/requirements.md from the catalogue, the decisions and the names of the tests.
import type { Covered, NamedTest } from './coverage.ts';
import type { Departure } from './decisions.ts';

const intro = `# Requirements
<!-- Made by \`npm run requirements -- --write\`; \`npm test\` fails if it is old. -->
The page lists each promise with the tests that prove the promise, the figure that measures it, or the work that will build it. For each test file, the page shows only one test; \`npm run requirements\` lists all tests.

The ids come from Liminal’s five source documents, the seeds: 000 (one stream for Claude Code and Codex), 001 (typed events on Redis), 002 (Claude Code through its SDK), 003 (upserts) and 004 (editors through ACP, ids with \`039\`). Comments in the code use these numbers. \`SAFE\` and \`INV\` are Liminal’s own ids.
`;

/** The sections of the page in their order: each section's title, and the beginning of the ids that belong to it. */
const sources: readonly [title: string, id: RegExp][] = [
  ['Seed 000: functions', /^(?:AC|TC)-\d\./],
  ['Seed 000: speed and quality', /^NFR-000/],
  ['Seed 001', /^FR-001/],
  ['Seed 002', /^FR-002/],
  ['Seed 003', /^(?:TC-\d\d$|FR-003)/],
  ['Seed 004', /039/],
  ['Safety', /^SAFE/],
  ['Invariants', /^INV/],
];

/** Returns the whole page. Throws if a requirement belongs to no section. */
export function requirementsPage(
  covered: readonly Covered[],
  departures: readonly Departure[],
): string {
  const strange = covered.find(({ id }) => !sources.some(([, pattern]) => pattern.test(id)));
  if (strange) throw new Error(`The page has no section for ${strange.id}.`);
  const sections = sources.map(([title, pattern]) => {
    const there = covered.filter(({ id }) => pattern.test(id));
    return [`## ${title}`, ...there.map((one) => entry(one, departures))].join('\n\n');
  });
  const differing = departures.map(({ text, record, ids }) => {
    const touched = ids.length > 0 ? ` (${ids.join(', ')})` : '';
    return `- ${text}${touched}: [${record}](decisions/${record})`;
  });
  const end = ['## Where Liminal differs from the seeds', differing.join('\n')].join('\n\n');
  return `${[intro.trim(), end, ...sections].filter((part) => part !== '').join('\n\n')}\n`;
}

/**
 * Returns a sentence for each id of a decision that is not in the catalogue, and for each record that does not exist.
 */
export function findDepartureProblems(
  departures: readonly Departure[],
  ids: readonly string[],
  records: readonly string[],
): string[] {
  return departures.flatMap(({ record, ids: touched }) => [
    ...(records.includes(record) ? [] : [`docs/decisions/${record} does not exist.`]),
    ...touched
      .filter((id) => !ids.includes(id))
      .map((id) => `${id}, of ${record}, is not in the catalogue.`),
  ]);
}

function entry({ id, text, open, figures, tests }: Covered, departures: readonly Departure[]) {
  const records = departures.filter(({ ids }) => ids.includes(id));
  const proof = id.startsWith('AC-')
    ? ['- proved by the test cases with its number']
    : Map.groupBy(tests, ({ file }) => file)
        .entries()
        .map(([file, there]) => `- \`${file}\`: ${escaped(firstName(there))}`)
        .toArray()
        .toSorted();
  return [
    `**${id}** ${escaped(text)}`,
    '',
    ...proof,
    ...(figures === undefined ? [] : [`- measured: \`npm run bench -- ${figures}\``]),
    ...(open === undefined ? [] : [`- open: ${open}`]),
    ...records.map(({ record }) => `- decided: [${record}](decisions/${record})`),
  ].join('\n');
}

/** Returns the name of the first test, without the names of the test's suites. */
function firstName(tests: readonly NamedTest[]): string {
  const names = tests.map(({ name }) => name.split(' > ').at(-1) ?? name);
  return names.toSorted()[0] ?? '';
}

const escaped = (text: string): string => text.replaceAll(/[\\`*_<>[\]]/g, String.raw`\$&`);
