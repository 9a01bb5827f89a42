/** Tests which commands “always” allows, with the programs themselves. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandPermissions } from '../../src/own/tools/bash/command-rules.ts';
import { isAllowed } from '../../src/own/tools/index.ts';
import { acting, others } from './hostile-commands.ts';
import { reading } from './reading-commands.ts';

let base: string;
let made: string;
const environment = () => ({
  PATH: process.env['PATH'],
  HOME: base,
  GIT_CONFIG_NOSYSTEM: '1',
  FILTER_BRANCH_SQUELCH_WARNING: '1',
  npm_config_update_notifier: 'false',
  npm_config_offline: 'true',
});
const run = (command: string, cwd: string) =>
  spawnSync('/bin/bash', ['-c', command], {
    cwd,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'liminal-grants-'));
  made = join(base, 'made');
  for (const folder of ['evil', '.sub']) mkdirSync(join(made, folder), { recursive: true });
  const files: Record<string, string> = {
    '.gitconfig': '',
    'a.txt': 'needle -- here\n',
    'b.txt': 'other\n',
    'touch-ran': '#!/bin/sh\ntouch ran\n',
    Makefile: 'all:\n\t@true\n',
    'evil.mk': 'all:\n\ttouch ran\n',
    'package.json': '{"name":"x","version":"1.0.0","scripts":{"test":"true"}}',
    'evil/package.json': '{"name":"y","version":"1.0.0","scripts":{"test":"touch ../ran"}}',
    '.sub/c.txt': 'x\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text);
  chmodSync(join(made, 'touch-ran'), 0o755);
  const { status, stderr } = run(
    [
      'set -e',
      'git config --global user.name A; git config --global user.email a@example.org',
      'git config --global protocol.file.allow always; git config --global init.defaultBranch main',
      'git config --global init.templateDir ""',
      'git init -q .sub; (cd .sub; git add .; git commit -qm x); git init -q .',
      'git submodule --quiet add ./.sub sub',
      'git add a.txt .gitmodules Makefile; git commit -qm first; git tag first',
      'git add .; git reset -q .sub; git commit -qm second; git tag v1 -m v1; git remote add origin ./',
      // A commit with an invalid signature: to check a signature, git starts a program.
      "git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n -----END PGP SIGNATURE-----' | git hash-object -t commit -w --stdin > id",
      'git tag signed $(cat id); rm id',
      'mkdir -p .git/hooks; cp touch-ran .git/hooks/touch-ran; echo more >> a.txt',
    ].join('\n'),
    made,
  );
  expect(stderr + String(status)).toMatch(/0$/);
});
afterAll(() => rmSync(base, { recursive: true }));

/** A copy of the repository, in which one command is run. */
function copied(): string {
  const work = join(base, 'work');
  rmSync(work, { recursive: true, force: true });
  cpSync(made, work, { recursive: true, verbatimSymlinks: true });
  return work;
}

/**
 * All rules for beginnings that could allow the command: those that are offered now, and those that older versions may
 * have offered.
 */
function beginnings(command: string): string[] {
  const offered = Object.keys(reading).flatMap((name) => [`command:${name}`, name.split(' ')[0]]);
  const earlier = command.split(/ *(?:;|&&|\|\|?) */).flatMap((part) => {
    const words = part.split(' ');
    return words.slice(0, -1).map((_, at) => `command:${words.slice(0, at + 1).join(' ')}`);
  });
  return [...offered, ...earlier].filter((rule) => rule !== undefined);
}

const offeredFor = (command: string): string[] =>
  commandPermissions(command).map(({ rule }) => rule);

describe('a command that runs a program, writes, or reads elsewhere', () => {
  test.each([...acting, ...others])(
    'is allowed only by a rule for exactly this command: %s',
    (command) => {
      expect(isAllowed(commandPermissions(command), beginnings(command))).toBe(false);
      expect(offeredFor(command)).toContainEqual(expect.stringMatching(/^exact:/));
      expect(isAllowed(commandPermissions(command), offeredFor(command))).toBe(true);
    },
  );

  test.each(acting)('really acts: %s', (command) => {
    const work = copied();
    const { stdout, stderr } = run(command, work);
    expect(existsSync(join(work, 'ran')), stdout + stderr).toBe(true);
  });
});

describe('a command that only reads', () => {
  const all = Object.entries(reading).flatMap(([name, commands]) =>
    commands.map((command) => [name, command] as const),
  );

  test.each(all)('is allowed by “read-only %s commands”: %s', (name, command) => {
    const [permission] = commandPermissions(command);
    expect(permission).toMatchObject({
      always: `read-only ${name} commands`,
      rule: `command:${name}`,
    });
    expect(isAllowed(commandPermissions(command), [`command:${name}`])).toBe(true);
    expect(isAllowed(commandPermissions(`${command}; touch ran`), [`command:${name}`])).toBe(false);
  });

  test.each(all)('changes no file (%s): %s', (_, command) => {
    const filesNow = () => new Set(readdirSync(made, { recursive: true, encoding: 'utf8' }));
    const before = filesNow();
    const { status, stderr } = run(command, made);
    // With status 129, git reports an unknown option.
    expect(status, stderr).not.toBe(129);
    expect(filesNow()).toEqual(before);
  });
});

test('there are more than 200 cases, and at least half of them do more than read', () => {
  const harmless = Object.values(reading).flat().length;
  const hostile = acting.length + others.length;
  expect(harmless).toBeGreaterThanOrEqual(100);
  expect(hostile).toBeGreaterThanOrEqual(harmless);
});
