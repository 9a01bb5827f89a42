/**
 * Finds the files of a project folder that make Claude Code run programs, or that give Claude Code a permission;
 * measured with Claude Code 2.1.330. Files that are only text for the model are left out: CLAUDE.md, rules, output
 * styles, plain skills.
 */
import { readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { PermissionRuleValue } from '@anthropic-ai/claude-agent-sdk';
import { isRecord, parseLine } from '../../base/parse-line.ts';
import {
  type FoundFile,
  ignoredByGit,
  ProjectReading,
  repositoryOf,
  settingsOf,
  withParents,
} from '../../base/project-files.ts';
import type { ProjectSettings } from '../../contract/project-settings.ts';

/** The most folders that are searched for skills in one project. */
const maxFolders = 2_000;
/** How long git may take in total to report the ignored folders, in ms. */
const gitMs = 10_000;

/** A skill with one of these files is a plugin, which can have its own hooks and MCP servers. */
const pluginFiles = new Set([
  'plugin.json',
  'marketplace.json',
  'hooks.json',
  'settings.json',
  'monitors.json',
  '.mcp.json',
  '.lsp.json',
]);

/** Frontmatter keys that grant nothing and run nothing. */
const plainKeys = new Set([
  'name',
  'description',
  'argument-hint',
  'arguments',
  'when_to_use',
  'model',
  'effort',
  'color',
  'version',
  'license',
  'metadata',
  'author',
  'tags',
  'compatibility',
  'tools',
  'disallowedTools',
  'disable-model-invocation',
  'user-invocable',
]);

/** Reads the project's settings; undefined if there are none. */
export async function readClaudeProject(
  projectDir: string,
  env: NodeJS.ProcessEnv,
): Promise<ProjectSettings | undefined> {
  return settingsOf(await findFiles(projectDir, env));
}

async function findFiles(projectDir: string, env: NodeJS.ProcessEnv): Promise<FoundFile[]> {
  const folder = await realpath(projectDir);
  const own = await userFolder(env);
  const repository = await repositoryOf(folder);
  const parents = withParents(folder);
  const roots = [folder, repository?.root, repository?.main].filter((root) => root !== undefined);
  const below = await foldersBelow(folder, env);
  const inRepository =
    repository === undefined ? parents : parents.slice(0, parents.indexOf(repository.root) + 1);
  const reading = new ProjectReading();
  const settings = await reading.readAll([
    ...settingsPaths([folder], own, 'settings.json'),
    ...settingsPaths(roots, own, 'settings.local.json'),
    ...settingsPaths([folder], own, 'scheduled_tasks.json'),
    ...parents.map((parent) => join(parent, '.mcp.json')),
  ]);
  const withSkills = [...new Set([...inRepository, ...roots, ...below.folders])]
    .map((parent) => join(parent, '.claude'))
    .filter((path) => path !== own);
  const texts: FoundFile[] = [];
  for (const path of withSkills) texts.push(...(await findTexts(path, reading)));
  return [...settings.filter(({ text }) => !isEmpty(text)), ...texts, ...below.notes];
}

/** Returns the folder of the user's own settings, which needs no trust. */
async function userFolder(env: NodeJS.ProcessEnv): Promise<string> {
  const folder = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? homedir(), '.claude');
  return realpath(folder).catch(() => folder);
}

const settingsPaths = (folders: readonly string[], own: string, name: string): string[] =>
  folders.map((folder) => join(folder, '.claude', name)).filter((path) => dirname(path) !== own);

/** Returns whether a settings file sets nothing. */
function isEmpty(text: string | undefined): boolean {
  if (text === undefined) return false;
  if (text.trim() === '') return true;
  try {
    const settings: unknown = JSON.parse(text);
    return isRecord(settings) && Object.keys(settings).every((key) => key === '$schema');
  } catch {
    return false;
  }
}

/** Returns the skills, commands, agents and workflows of a `.claude` folder that run or permit something. */
async function findTexts(folder: string, reading: ProjectReading): Promise<FoundFile[]> {
  const kinds = ['skills', 'commands', 'agents', 'workflows'].map((name) => join(folder, name));
  const found: (string[] | undefined)[] = [];
  for (const kind of kinds) found.push(await reading.filesBelow(kind));
  const [skills = [], commands = [], agents = [], workflows = []] = found;
  const tooMany = kinds.filter((_, at) => found[at] === undefined);
  const plugins = skills.filter((path) => pluginFiles.has(basename(path)));
  const plain = [...skills, ...commands, ...agents].filter((path) => /\.md$/i.test(path));
  const texts = await reading.readAll(plain);
  const wholes = await reading.readAll([...plugins, ...workflows]);
  return [
    ...texts.filter(({ text }) => text === undefined || !isOnlyText(text)),
    ...wholes,
    ...tooMany.map((path) => ({ path, text: undefined })),
  ];
}

/**
 * Returns whether a skill, command or agent is only text for the model. Each line of the frontmatter must begin or
 * continue the value of a known key, so that no other YAML syntax can hide a key.
 */
export function isOnlyText(text: string): boolean {
  if (text.includes('!`') || text.includes('```!')) return false;
  const lines = text.replace(/^\uFEFF?\s*/, '').split(/\r\n|[\n\r\u0085\u2028\u2029]/);
  if (lines[0]?.startsWith('---') !== true) return true;
  const end = lines.findIndex((line, at) => at > 0 && /^---\s*$/.test(line));
  let hasKey = false;
  for (const line of lines.slice(1, end === -1 ? undefined : end)) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    if (hasKey && /^(\s|- )/.test(line)) continue;
    const key = /^([\w-]+)\s*:/.exec(line)?.[1];
    if (key === undefined || !plainKeys.has(key)) return false;
    hasKey = true;
  }
  return true;
}

/**
 * Returns the folders below a project folder that contain a `.claude`, and notes about folders that were not searched.
 * After Claude Code has read a file in a folder with a `.claude`, Claude Code uses the folder's skills, unless git
 * ignores the folder.
 */
async function foldersBelow(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<{ folders: string[]; notes: FoundFile[] }> {
  const folders: string[] = [];
  let searched = 0;
  const signal = AbortSignal.timeout(gitMs);
  for (let level = [folder]; level.length > 0;) {
    const left = maxFolders - searched;
    if (left <= 0) {
      const text = `More than ${maxFolders} folders: skills in the remaining folders can run and permit something, and are not listed here.`;
      return { folders, notes: [{ path: folder, text }] };
    }
    const now = level.slice(0, left);
    searched += now.length;
    const found = (await Promise.all(now.map(foldersIn))).flat();
    const paths = found.map(({ path }) => path);
    folders.push(...paths.filter((path) => basename(path) === '.claude').map(dirname));
    const installed = paths.filter((path) => basename(path) === 'node_modules');
    const ignored = await ignoredByGit(folder, installed, env, signal);
    const next = found.filter(({ path, isLink }) => !isLink && !ignored.has(path));
    level = [...level.slice(left), ...next.map(({ path }) => path)];
  }
  return { folders, notes: [] };
}

/**
 * Returns the folders in a folder, except `.git`, which a clone cannot fill. Links are left out, except a link named
 * `.claude`.
 */
async function foldersIn(folder: string): Promise<{ path: string; isLink: boolean }[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => name !== '.git')
    .filter((entry) => entry.isDirectory() || (entry.name === '.claude' && entry.isSymbolicLink()))
    .map((entry) => ({ path: join(folder, entry.name), isLink: entry.isSymbolicLink() }));
}

/**
 * Returns whether two states of the settings differ only by lasting rules that people have allowed in this session.
 * Claude Code writes lasting rules into the folder's settings.
 */
export function differOnlyByRules(
  before: ProjectSettings | undefined,
  now: ProjectSettings,
  allowed: readonly PermissionRuleValue[],
): boolean {
  const rules = new Set(allowed.map(ruleText));
  const others = (settings: ProjectSettings | undefined): string => {
    const files = settings?.files ?? [];
    const texts = files.map(({ path, text }) => ({ path, text: withoutRules(path, text, rules) }));
    return JSON.stringify(texts.filter(({ text }) => text !== '{}'));
  };
  return others(before) === others(now);
}

const ruleText = ({ toolName, ruleContent = '' }: PermissionRuleValue): string =>
  ruleContent === '' ? toolName : `${toolName}(${ruleContent})`;

function withoutRules(path: string, text: string, rules: ReadonlySet<string>): string {
  if (!/^settings(\.local)?\.json$/.test(basename(path))) return text;
  const settings = parseLine(text);
  if (!isRecord(settings)) return text;
  const { permissions, $schema: _, ...others } = settings;
  if (!isRecord(permissions))
    return JSON.stringify({ ...others, ...(permissions !== undefined && { permissions }) });
  const { allow, ...rest } = permissions;
  const left = Array.isArray(allow)
    ? allow.filter((rule) => typeof rule !== 'string' || !rules.has(rule))
    : [allow ?? []].flat();
  const remaining = { ...rest, ...(left.length > 0 && { allow: left }) };
  return JSON.stringify({
    ...others,
    ...(Object.keys(remaining).length > 0 && { permissions: remaining }),
  });
}
