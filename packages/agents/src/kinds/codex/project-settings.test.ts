import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCodexProject, trustConfig } from './project-settings.ts';

let base: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'liminal-project-')));
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(base, path)), { recursive: true });
  await writeFile(join(base, path), text);
}

const read = (folder = 'repo/project') =>
  readCodexProject(join(base, folder), { HOME: join(base, 'home') });

const word = 'touch-the-mark';

test.each([
  ['config.toml', '.codex/config.toml'],
  ['hooks', '.codex/hooks.json'],
  ['rules', '.codex/rules/a.rules'],
  ['agents', '.codex/agents/a.toml'],
  ['config.toml of the repository', '../.codex/config.toml'],
])('%s is shown', async (_, path) => {
  await put('repo/.git/HEAD', '');
  await put('repo/project/AGENTS.md', 'Use tabs.');
  await put('repo/project/.agents/skills/s/SKILL.md', 'Say hello.');
  expect(await read()).toBeUndefined();
  await put(join('repo/project', path), word);
  const settings = await read();
  expect(settings?.files).toEqual([{ path: join(base, 'repo/project', path), text: word }]);
  await put(join('repo/project', path), `${word} again`);
  expect((await read())?.hash).not.toBe(settings?.hash);
});

test('the user’s own folder needs no agreement', async () => {
  await put('home/.codex/config.toml', 'a = 1');
  await put('home/project/a', '');
  expect(await read('home')).toBeUndefined();
  expect(await read('home/project')).toBeUndefined();
});

test('a secondary work tree has the settings and the trust of the main work tree', async () => {
  await put('repo/.git/worktrees/tree/commondir', '../..');
  await put('tree/.git', `gitdir: ${join(base, 'repo/.git/worktrees/tree')}`);
  await put('repo/.codex/config.toml', 'a = 1');
  expect((await read('tree'))?.files).toHaveLength(1);
  expect(await trustConfig(join(base, 'tree'), 'untrusted')).toEqual({
    projects: {
      [join(base, 'tree')]: { trust_level: 'untrusted' },
      [join(base, 'repo')]: { trust_level: 'untrusted' },
    },
  });
});
