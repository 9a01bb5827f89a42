import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HiddenFolders } from '../../base/hidden-folders.ts';
import { instructionsFor } from './instructions.ts';

async function project(files: Record<string, string>): Promise<string> {
  const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'liminal-instructions-')));
  onTestFinished(() => rm(projectDir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(projectDir, name), text);
  return projectDir;
}

const instructions = (projectDir: string, hidden: string[] = [], additional?: string[]) =>
  instructionsFor(
    { projectDir, ...(additional && { additionalDirectories: additional }) },
    new HiddenFolders(hidden),
  );

test('the instructions name the project’s folder, and further folders if there are any', async () => {
  const projectDir = await project({});
  const alone = await instructions(projectDir);
  expect(alone).toContain(`\nThe project’s folder is ${projectDir}. Paths are relative to it.\n`);
  expect(alone).toMatch(/^You are a coding agent\./);
  expect(alone).toMatch(/\nIf the user refuses a call, do not try the same in another way\.$/);
  expect(alone).not.toContain('You may also work');
  expect(await instructions(projectDir, [], [])).toBe(alone);
  expect(await instructions(projectDir, [], ['/lib', '/docs'])).toBe(
    alone.replace(
      'Look before',
      'You may also work in these folders, by whole paths: /lib, /docs\nLook before',
    ),
  );
});

test('a model gets the project’s AGENTS.md, or its CLAUDE.md if the project has no AGENTS.md', async () => {
  const both = await project({ 'AGENTS.md': 'Use tabs.', 'CLAUDE.md': 'Use spaces.' });
  expect(await instructions(both)).toMatch(/\n\nThe project says to agents:\n\nUse tabs\.$/);
  const one = await project({ 'CLAUDE.md': 'Use spaces.' });
  expect(await instructions(one)).toMatch(/\n\nThe project says to agents:\n\nUse spaces\.$/);
  expect(await instructions(await project({}))).not.toContain('The project says');
});

test('if the file with instructions is large, a model gets its first 64 KiB', async () => {
  const large = `${'x'.repeat(64 * 1024)}y`;
  const text = await instructions(await project({ 'AGENTS.md': large }));
  expect(text.endsWith(`\n\n${large.slice(0, -1)}`)).toBe(true);
});

test('SAFE: instructions that lie outside of the project, or in a hidden folder, are not sent', async () => {
  const elsewhere = await project({ 'AGENTS.md': 'A secret.' });
  const linked = await project({});
  await symlink(join(elsewhere, 'AGENTS.md'), join(linked, 'AGENTS.md'));
  expect(await instructions(linked)).not.toContain('A secret.');

  const inside = await project({});
  const hidden = join(inside, '.liminal');
  await mkdir(hidden);
  await writeFile(join(hidden, 'token'), 'A secret.');
  await symlink(join(hidden, 'token'), join(inside, 'AGENTS.md'));
  expect(await instructions(inside)).toContain('A secret.');
  expect(await instructions(inside, [hidden])).not.toContain('A secret.');
});
