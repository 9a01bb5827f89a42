/** Tests programs that a repository's own configuration names, with the installed git. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryPrograms, repositorySetup } from '@liminal/testkit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bashTool } from '../../src/own/tools/bash.ts';
import { isAllowed } from '../../src/own/tools/index.ts';
import { call, makeProject, nothingHidden, type Project } from './project.ts';

/** All rules that a person may have stored for read-only commands. */
const rules = [
  'status',
  'diff',
  'log',
  'show',
  'blame',
  'grep',
  'describe',
  'ls-files',
  'branch',
].map((name) => `command:git ${name}`);

let project: Project;
let home: string;
let marker: string;

/** Runs commands as a person does in a terminal. */
function person(...commands: string[]): string {
  const { stdout, stderr, status } = spawnSync(
    '/bin/sh',
    ['-c', ['set -e', ...commands].join('\n')],
    {
      cwd: project.dir,
      encoding: 'utf8',
    },
  );
  expect(status, stdout + stderr).toBe(0);
  return stdout;
}

const writeProgram = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n: > '${marker}'\nexec cat\n`);
  chmodSync(path, 0o755);
};

beforeEach(async () => {
  project = await makeProject();
  home = join(project.outside, 'home');
  marker = join(project.outside, 'started');
  mkdirSync(home);
  vi.stubEnv('HOME', home);
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
  person(...repositorySetup);
  // The program is in the project, so the model may edit it.
  writeProgram(join(project.dir, 'prog'));
});
afterEach(() => vi.unstubAllEnvs());

/** Whether the command would be run without asking people. */
async function isUnasked(command: string, given = rules): Promise<boolean> {
  const needed = await bashTool(nothingHidden).needs({ command }, project.folders);
  return isAllowed(needed ?? [], given);
}

/** Whether the model's program ran when a model called the command and no person answered a question. */
async function starts(command: string, given = rules): Promise<boolean> {
  rmSync(marker, { force: true });
  if (await isUnasked(command, given)) await call(bashTool(nothingHidden), project, { command });
  return existsSync(marker);
}

/** Whether git starts the program if Liminal is not involved. */
function reallyStarts(command: string): boolean {
  rmSync(marker, { force: true });
  spawnSync('/bin/bash', ['-c', command], { cwd: project.dir, timeout: 60_000 });
  return existsSync(marker);
}

const cases = Object.entries(repositoryPrograms);

describe('SAFE: a program that the repository names', () => {
  test.each(cases)('is started by git: %s', (_name, { setup, command }) => {
    person(...setup);
    expect(reallyStarts(command)).toBe(true);
  });

  test.each(cases)(
    'is not started by a command that a stored permission allows: %s',
    async (_name, { setup, command, runs = false }) => {
      person(...setup);
      const given = [...rules, 'exact:true', 'exact:cat'];
      expect(await starts(command, given)).toBe(false);
      expect(await isUnasked(command, given)).toBe(runs);
      expect(await isUnasked(command, ['tool:bash'])).toBe(true);
      // If a person allows exactly this command, it is run unchanged.
      const exact = command.split(/ *(?:;|&&|\|) */).map((part) => `exact:${part}`);
      expect(await isUnasked(command, exact)).toBe(true);
    },
  );

  test.each(cases)(
    'is not started by the inspection of the repository: %s',
    async (_name, { setup }) => {
      person(...setup);
      rmSync(marker, { force: true });
      for (const command of ['git status', 'git status; true']) await isUnasked(command);
      expect(existsSync(marker)).toBe(false);
    },
  );
});

test('programs that only other subcommands of git start cause no question', async () => {
  const keys = [
    'core.pager',
    'pager.status',
    'pager.log',
    'core.editor',
    'sequence.editor',
    'interactive.diffFilter',
    'credential.helper',
    'core.sshCommand',
    'core.gitProxy',
    'core.askPass',
    'core.alternateRefsCommand',
    'alias.status',
    'alias.x',
    'submodule.x.update',
    'difftool.x.cmd',
    'mergetool.x.cmd',
    'trailer.x.command',
    'trailer.x.cmd',
    'remote.origin.uploadpack',
    'remote.origin.receivepack',
    'uploadpack.packObjectsHook',
    'sendemail.sendmailcmd',
  ];
  person(
    ...keys.map((key) => `git config ${key} '!./prog'`),
    ...keys.map((key) => `git config ${key} ./prog`),
  );
  const commands = [
    'git status',
    'git diff',
    "git log -p '--format=%(trailers)'",
    'git show',
    'git blame a.txt',
    'git grep one',
    'git describe --always --dirty',
    'git ls-files -m',
    'git branch -a',
  ];
  for (const command of commands) {
    expect(await isUnasked(command), command).toBe(true);
    expect(reallyStarts(command), command).toBe(false);
    expect(await starts(command), command).toBe(false);
  }
});

describe('no question is asked', () => {
  const usual = ['git status', 'git diff', 'git log -p', 'git status && git diff --stat | cat'];

  test.each<[string, string[]]>([
    ['in a plain repository', []],
    [
      'with filters, drivers and includes of the person’s own',
      [
        'git config --global filter.lfs.clean cat; git config --global filter.lfs.process false',
        'git config --global diff.external true; git config --global diff.x.textconv cat',
        'git config --global include.path more; git config --global core.hooksPath ~/hooks',
        'echo "* diff=x" > .gitattributes',
      ],
    ],
    [
      'in a clone with a branch that tracks another, and settings of other programs',
      [
        'git config remote.origin.url https://example.com/x; git config branch.main.remote origin',
        'git config branch.main.vscode-merge-base origin/main; git config user.email b@example.org',
        'git config commit.gpgsign true; git config user.signingkey x; git config core.hooksPath .husky',
        'git config core.sshCommand "ssh -i key"; git config core.fsmonitor true',
      ],
    ],
    [
      'in a partial clone',
      [
        'git config extensions.partialClone origin; git config remote.origin.promisor true',
        'git config remote.origin.partialclonefilter blob:none',
      ],
    ],
    [
      'with a submodule',
      [
        'git init -q made; (cd made; echo x > x; git add .; git commit -qm x)',
        'git submodule --quiet add ./made module; git commit -qm module',
      ],
    ],
    [
      'in a second worktree',
      [
        'git clone -q . ../main; git -C ../main worktree add -q ../second; rm -rf .git; mv ../second/.git .',
      ],
    ],
  ])('%s', async (_name, setup) => {
    person(...setup);
    for (const command of usual) {
      expect(await isUnasked(command, [...rules, 'exact:cat']), command).toBe(true);
    }
  });

  test('outside of a repository', async () => {
    rmSync(join(project.dir, '.git'), { recursive: true });
    expect(await isUnasked('git diff a.txt sub/b.txt')).toBe(true);
  });
});

test('an external diff that a person has configured shows the changes, also with a stored permission', async () => {
  person('git config --global diff.external "echo shown by"');
  const { output } = await call(bashTool(nothingHidden), project, { command: 'git diff' });
  expect(output).toMatch(/^shown by a\.txt/);
});

test('hooks run for commands that are not read-only', async () => {
  person('git config core.hooksPath .husky; mkdir .husky; cp prog .husky/pre-commit');
  await call(bashTool(nothingHidden), project, { command: 'git status; git commit -qam x' });
  expect(existsSync(marker)).toBe(true);
});

test('if a repository cannot be inspected, people are asked', async () => {
  writeFileSync(join(project.dir, '.git/config'), '[core\n');
  expect(await isUnasked('git status')).toBe(false);
});

test('if git lfs is set up only in this repository, people are asked', async () => {
  person('git config filter.lfs.process "git-lfs filter-process"');
  for (const command of ['git status', 'git log -5']) {
    expect(await isUnasked(command)).toBe(false);
    expect(await isUnasked(command, [`exact:${command}`])).toBe(true);
  }
});
