/**
 * Finds the files in a project folder that make Codex run programs, or that give Codex a permission, once Codex trusts
 * the folder; measured with Codex 0.169. AGENTS.md and skills are left out: they are only text for the model.
 */
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  type FoundFile,
  ProjectReading,
  repositoryOf,
  settingsOf,
  withParents,
} from '../../base/project-files.ts';
import type { ProjectSettings } from '../../contract/project-settings.ts';

/** Returns undefined if the folder has no such files. */
export async function readCodexProject(
  projectDir: string,
  env: NodeJS.ProcessEnv,
): Promise<ProjectSettings | undefined> {
  const home = env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex');
  const own = await realpath(home).catch(() => home);
  const folder = await realpath(projectDir);
  const main = (await repositoryOf(folder))?.main;
  const folders = [...withParents(folder), ...(main === undefined ? [] : [main])]
    .map((parent) => join(parent, '.codex'))
    .filter((path) => path !== own);
  const reading = new ProjectReading();
  const found: FoundFile[] = [];
  for (const each of folders) found.push(...(await findSettingsIn(each, reading)));
  return settingsOf(found.filter(({ text }) => text?.trim() !== ''));
}

async function findSettingsIn(folder: string, reading: ProjectReading): Promise<FoundFile[]> {
  const kinds = ['rules', 'agents'].map((name) => join(folder, name));
  const below: (string[] | undefined)[] = [];
  for (const kind of kinds) below.push(await reading.filesBelow(kind));
  const tooMany = kinds.filter((_, at) => below[at] === undefined);
  const named = ['config.toml', 'hooks.json'].map((name) => join(folder, name));
  const files = await reading.readAll([...named, ...below.flatMap((paths) => paths ?? [])]);
  return [...files, ...tooMany.map((path) => ({ path, text: undefined }))];
}

/**
 * Returns the thread config that makes Codex trust a folder, or not trust the folder. This config overrides the user's
 * configuration.
 */
export async function trustConfig(
  projectDir: string,
  level: 'trusted' | 'untrusted',
): Promise<Record<string, unknown>> {
  const folder = await realpath(projectDir).catch(() => projectDir);
  const { root, main } = (await repositoryOf(folder)) ?? {};
  const folders = [projectDir, folder, root, main].filter((path) => path !== undefined);
  // Pass an object: Codex ignores a dotted name (`projects.PATH.trust_level`) if the path has dots or slashes.
  return { projects: Object.fromEntries(folders.map((path) => [path, { trust_level: level }])) };
}
