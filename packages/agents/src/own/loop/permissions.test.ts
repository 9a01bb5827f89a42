import type { ToolKind } from '@liminal/protocol';
import { expect, test } from 'vitest';
import type { Permission } from '../tools/index.ts';
import { Permissions } from './permissions.ts';

const edit: Permission = { rule: 'edit:src/', always: 'edits in src/', also: ['tool:edit'] };
const run: Permission = { rule: 'run:npm', always: 'npm' };

/** Permissions of a project that stores these rules; with `faults`, reading or adding fails. */
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
    grants,
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

test('a call is allowed if the project’s rules cover everything that it needs', async () => {
  const { made, problems } = permissions({ kept: ['tool:edit'] });
  expect(made.areStored).toBe(true);
  expect(await made.allow('edit', [edit])).toBe(true);
  expect(await made.allow('edit', [edit, run])).toBe(false);
  expect(problems).toEqual([
    ['read', undefined],
    ['read', undefined],
  ]);
});

test('a granted rule is stored in the project, and no longer applies after it was removed there', async () => {
  const { made, added } = permissions({ kept: [] });
  await made.grant([edit, run]);
  expect(added).toEqual([
    ['edit:src/', 'edits in src/'],
    ['run:npm', 'npm'],
  ]);
  expect(await made.allow('execute', [run])).toBe(false);
});

test('without a project that stores rules, a grant lasts as long as the session', async () => {
  const { made, problems } = permissions();
  expect(made.areStored).toBe(false);
  expect(await made.allow('execute', [run])).toBe(false);
  await made.grant([run]);
  problems.length = 0;
  expect(await made.allow('execute', [run])).toBe(true);
  // No rules were read.
  expect(problems).toEqual([]);
});

test('a rule that cannot be stored applies only to the session, and people get a notice', async () => {
  const { made, problems, added, faults } = permissions({ kept: [] });
  faults.add = true;
  await made.grant([run, edit]);
  expect(problems).toEqual([
    ['add', '“npm” is allowed in this session only: it could not be stored. It is full.'],
    ['add', '“edits in src/” is allowed in this session only: it could not be stored. It is full.'],
  ]);
  expect(added).toEqual([]);
  expect(await made.allow('execute', [run, edit])).toBe(true);
});

test('rules of the session and of the project are applied together', async () => {
  const { made, faults } = permissions({ kept: ['edit:src/'] });
  faults.add = true;
  await made.grant([run]);
  expect(await made.allow('execute', [run, edit])).toBe(true);
});

test('while the project’s rules cannot be read, people are asked and get a notice', async () => {
  const { made, problems, faults } = permissions({ kept: ['run:npm'] });
  faults.list = true;
  expect(await made.allow('execute', [run])).toBe(false);
  expect(problems).toEqual([
    ['read', 'This project’s permanent permissions could not be read. It is away.'],
  ]);
});
