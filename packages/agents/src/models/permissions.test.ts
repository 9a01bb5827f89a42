import type { ToolKind } from '@liminal/protocol';
import { expect, test } from 'vitest';
import type { ProjectGrants } from '../provider.ts';
import type { Permission } from '../tools/index.ts';
import { Permissions } from './permissions.ts';

const edit: Permission = { rule: 'edit:src/', always: 'edits in src/', also: ['tool:edit'] };
const run: Permission = { rule: 'run:npm', always: 'npm' };

/** Permissions of a project that keeps these rules; `faults` says what fails. */
function permissions({ kept }: { kept?: string[] } = {}) {
  const problems: [string, string | undefined][] = [];
  const added: string[][] = [];
  const faults = { list: false, add: false };
  const grants = kept && {
    list: async () => {
      if (faults.list) throw new Error('It is away.');
      return kept;
    },
    add: async (rule: string, always: string) => {
      if (faults.add) throw new Error('It is full.');
      added.push([rule, always]);
    },
  };
  const made = new Permissions({
    grants: grants as ProjectGrants | undefined,
    onProblem: (what, problem) => problems.push([what, problem]),
  });
  return { made, problems, added, faults };
}

test.each<[mode: Permissions['mode'], kind: ToolKind, isAllowed: boolean]>([
  ['ask', 'edit', false],
  ['ask', 'execute', false],
  ['edits', 'edit', true],
  ['edits', 'execute', false],
  ['all', 'edit', true],
  ['all', 'execute', true],
])(
  'in the mode "%s", a tool of kind %s without a rule is allowed: %s',
  async (mode, kind, isAllowed) => {
    const { made } = permissions({ kept: [] });
    expect(made.mode).toBe('ask');
    made.mode = mode;
    expect(await made.allow(kind, [run])).toBe(isAllowed);
  },
);

test('what the project keeps is allowed, if it covers all that is needed', async () => {
  const { made, problems } = permissions({ kept: ['tool:edit'] });
  expect(made.areKept).toBe(true);
  expect(await made.allow('edit', [edit])).toBe(true);
  expect(await made.allow('edit', [edit, run])).toBe(false);
  expect(problems).toEqual([
    ['read', undefined],
    ['read', undefined],
  ]);
});

test('a rule that is granted goes to the project, which may take it back', async () => {
  const { made, added } = permissions({ kept: [] });
  await made.grant([edit, run]);
  expect(added).toEqual([
    ['edit:src/', 'edits in src/'],
    ['run:npm', 'npm'],
  ]);
  expect(await made.allow('execute', [run])).toBe(false);
});

test('without a project that keeps rules, what is granted holds for the session', async () => {
  const { made, problems } = permissions();
  expect(made.areKept).toBe(false);
  expect(await made.allow('execute', [run])).toBe(false);
  await made.grant([run]);
  problems.length = 0;
  expect(await made.allow('execute', [run])).toBe(true);
  // Nothing was read for it.
  expect(problems).toEqual([]);
});

test('a rule that cannot be kept holds for the session, and the problem is reported', async () => {
  const { made, problems, added, faults } = permissions({ kept: [] });
  faults.add = true;
  await made.grant([run, edit]);
  expect(problems).toEqual([
    ['add', '“npm” is allowed in this session only: it could not be kept. It is full.'],
    ['add', '“edits in src/” is allowed in this session only: it could not be kept. It is full.'],
  ]);
  expect(added).toEqual([]);
  expect(await made.allow('execute', [run, edit])).toBe(true);
});

test('rules of the session and of the project hold together', async () => {
  const { made, faults } = permissions({ kept: ['edit:src/'] });
  faults.add = true;
  await made.grant([run]);
  expect(await made.allow('execute', [run, edit])).toBe(true);
});

test('people are asked while the project’s rules cannot be read, and the problem is reported', async () => {
  const { made, problems, faults } = permissions({ kept: ['run:npm'] });
  faults.list = true;
  expect(await made.allow('execute', [run])).toBe(false);
  expect(problems).toEqual([
    ['read', 'What is always allowed in this project could not be read. It is away.'],
  ]);
});
