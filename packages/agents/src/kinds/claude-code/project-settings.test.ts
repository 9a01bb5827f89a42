import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { differOnlyByRules, isOnlyText, readClaudeProject } from './project-settings.ts';

let base: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'liminal-project-')));
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(base, path)), { recursive: true });
  await writeFile(join(base, path), text);
}

/** The user's own folders, which are never listed. */
const env = () => ({ HOME: join(base, 'home'), PATH: '' });
const claude = (folder = 'repo/project') => readClaudeProject(join(base, folder), env());

const word = 'touch-the-mark';
const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: word }] }] };
const json = (settings: object): string => JSON.stringify(settings);
const skill = (frontmatter: string, body = 'Text.'): string =>
  `---\nname: s\ndescription: d\n${frontmatter}\n---\n${body}\n`;

/** Every kind of file with which a folder can make Claude Code run or permit something; the word must be shown. */
const brought: [what: string, path: string, text: string][] = [
  ['hooks', '.claude/settings.json', json({ hooks })],
  ['hooks that git ignores', '.claude/settings.local.json', json({ hooks })],
  ['hooks of the repository that git ignores', '../.claude/settings.local.json', json({ hooks })],
  ['environment', '.claude/settings.json', json({ env: { PATH: word } })],
  ['rules that allow', '.claude/settings.json', json({ permissions: { allow: [word] } })],
  [
    'other folders',
    '.claude/settings.json',
    json({ permissions: { additionalDirectories: [word] } }),
  ],
  ['a mode', '.claude/settings.json', json({ permissions: { defaultMode: word } })],
  [
    'a status line',
    '.claude/settings.json',
    json({ statusLine: { type: 'command', command: word } }),
  ],
  ['a helper for keys', '.claude/settings.json', json({ apiKeyHelper: word })],
  ['a helper for headers', '.claude/settings.json', json({ otelHeadersHelper: word })],
  ['a helper for a cloud', '.claude/settings.json', json({ awsAuthRefresh: word })],
  ['a helper for files', '.claude/settings.json', json({ fileSuggestion: { command: word } })],
  ['plugins', '.claude/settings.json', json({ enabledPlugins: { [word]: true } })],
  [
    'marketplaces',
    '.claude/settings.json',
    json({ extraKnownMarketplaces: { a: { source: word } } }),
  ],
  ['an unknown setting', '.claude/settings.json', json({ unheardOf: word })],
  ['a word in escapes', '.claude/settings.json', '{"env": {"A": "touch\\u002dthe\\u002dmark"}}'],
  ['settings that are not JSON', '.claude/settings.json', `{ // ${word}\n`],
  ['MCP servers', '.mcp.json', json({ mcpServers: { a: { command: word } } })],
  [
    'MCP servers of a parent folder',
    '../.mcp.json',
    json({ mcpServers: { a: { command: word } } }),
  ],
  ['MCP servers from outside the repository', '../../.mcp.json', json({ a: word })],
  ['scheduled tasks', '.claude/scheduled_tasks.json', json({ tasks: [word] })],
  ['a skill that allows', '.claude/skills/s/SKILL.md', skill(`allowed-tools: Bash(${word})`)],
  ['a skill with hooks', '.claude/skills/s/SKILL.md', skill(`hooks:\n  Stop: ${word}`)],
  ['a skill that runs', '.claude/skills/s/SKILL.md', skill('', `!\`${word}\``)],
  ['a skill that runs a block', '.claude/skills/s/SKILL.md', skill('', `\`\`\`!\n${word}\n\`\`\``)],
  ['a skill of the repository', '../.claude/skills/s/SKILL.md', skill(`hooks: ${word}`)],
  ['a skill of an inner folder', 'a/b/.claude/skills/s/SKILL.md', skill(`hooks: ${word}`)],
  ['a skill in node_modules', 'node_modules/a/.claude/skills/s/SKILL.md', skill(`hooks: ${word}`)],
  [
    'a skill in a folder of settings',
    '.claude/a/.claude/skills/s/SKILL.md',
    skill(`hooks: ${word}`),
  ],
  ['a plugin among skills', '.claude/skills/s/hooks/hooks.json', json({ hooks })],
  ...[
    '.claude-plugin/plugin.json',
    '.claude-plugin/marketplace.json',
    'settings.json',
    'monitors/monitors.json',
    '.mcp.json',
    '.lsp.json',
  ].map((name): [string, string, string] => [
    `the ${name} of a plugin among skills`,
    `.claude/skills/s/${name}`,
    json({ command: word }),
  ]),
  ['a command that allows', '.claude/commands/x/c.md', skill(`allowed-tools: ${word}`)],
  ['an agent with servers', '.claude/agents/a.md', skill(`mcpServers: ${word}`)],
  ['a workflow', '.claude/workflows/w.js', word],
];

test.each(brought)('Claude Code: %s is shown', async (_, path, text) => {
  await put('repo/.git/HEAD', '');
  await put('repo/project/readme.md', 'Hello');
  expect(await claude()).toBeUndefined();
  await put(join('repo/project', path), text);
  const settings = await claude();
  expect(settings?.files.map((file) => file.path)).toEqual([join(base, 'repo/project', path)]);
  expect(settings?.files[0]?.text).toContain(word);
  expect(settings?.problem).toBeUndefined();
  // A changed text needs a new decision.
  await put(join('repo/project', path), text.replace('mark', 'Mark'));
  expect((await claude())?.hash).not.toBe(settings?.hash);
});

test.each([
  ['instructions', 'CLAUDE.md', 'Use tabs.'],
  ['instructions in its folder', '.claude/CLAUDE.md', 'Use tabs.'],
  ['rules of style', '.claude/rules/style.md', 'Use tabs.'],
  ['empty settings', '.claude/settings.json', '{"$schema": "x"}'],
  ['a plain skill', '.claude/skills/s/SKILL.md', skill('license: MIT')],
  ['a plain agent', '.claude/agents/a.md', skill('tools: Read\nmodel: opus')],
  ['a plain command', '.claude/commands/c.md', 'Say hello.'],
  ['settings of another project', '../other/.claude/settings.json', json({ hooks })],
  ['the user’s own settings', '../../home/.claude/settings.json', json({ hooks })],
  ['the user’s own skills', '../../home/.claude/skills/s/SKILL.md', skill('hooks: x')],
])('Claude Code: %s needs no agreement', async (_, path, text) => {
  await put('repo/project/readme.md', 'Hello');
  await put(join('repo/project', path), text);
  expect(await claude()).toBeUndefined();
});

test('if the project folder is the home folder, only settings that are not the user’s own count as the project’s', async () => {
  await put('home/.claude/settings.json', json({ hooks }));
  await put('home/.claude/skills/s/SKILL.md', skill('hooks: x'));
  expect(await claude('home')).toBeUndefined();
  await put('home/.mcp.json', json({ mcpServers: {} }));
  expect((await claude('home'))?.files).toHaveLength(1);
});

test('a linked work tree has the settings and skills of the main work tree', async () => {
  await put('repo/.git/worktrees/tree/commondir', '../..');
  await put('tree/.git', `gitdir: ${join(base, 'repo/.git/worktrees/tree')}`);
  await put('repo/.claude/settings.local.json', json({ hooks }));
  await put('repo/.claude/skills/s/SKILL.md', skill('hooks: x'));
  expect((await claude('tree'))?.files).toHaveLength(2);
});

test.each([
  ['a quoted key', '"hooks": x'],
  ['a mapping in braces', '{hooks: x}'],
  ['an indented mapping', '  hooks: x'],
  ['a key on a line of another kind', 'name: a\u2028hooks: x'],
  ['a key after a carriage return', 'name: a\rhooks: x'],
  ['a question mark', '? hooks\n: x'],
  ['a tag', '!!str hooks: x'],
  ['an anchor', '&a hooks: x'],
])('a skill counts as more than text if a key is written as %s', (_, frontmatter) => {
  expect(isOnlyText(`---\n${frontmatter}\n---\nText.`)).toBe(false);
  expect(isOnlyText(`\uFEFF\n---\n${frontmatter}\n---\nText.`)).toBe(false);
  expect(isOnlyText(`---\nname: a\ndescription: >\n  b\n\n  c\n---\nText.`)).toBe(true);
});

test('links to files and folders are followed', async () => {
  await put('elsewhere/settings.json', json({ hooks }));
  await put('repo/project/readme.md', '');
  await symlink(join(base, 'elsewhere'), join(base, 'repo/project/.claude'));
  await symlink(join(base, 'repo/project'), join(base, 'link'));
  const settings = await claude();
  expect(settings?.files[0]?.text).toContain(word);
  expect(await claude('link')).toEqual(settings);
});

test('a linked `.claude` folder below the project is read', async () => {
  await put('elsewhere/skills/s/SKILL.md', skill(`hooks: ${word}`));
  await put('repo/project/sub/readme.md', '');
  await symlink(join(base, 'elsewhere'), join(base, 'repo/project/sub/.claude'));
  const path = join(base, 'repo/project/sub/.claude/skills/s/SKILL.md');
  expect((await claude())?.files).toMatchObject([{ path, text: expect.stringContaining(word) }]);
});

test('a folder of skills with too many files cannot be agreed to', async () => {
  const skills = 'repo/project/.claude/skills';
  await put(join(skills, 's/SKILL.md'), skill(`hooks: ${word}`));
  const names = Array.from({ length: 5_000 }, (_, at) => join(base, skills, `${at}.txt`));
  for (const name of names) await writeFile(name, '');
  const path = join(base, skills);
  expect(await claude()).toMatchObject({
    files: [{ path }],
    problem: `These files cannot be shown whole: ${path}.`,
  });
});

test('packages are left out only if git ignores them and tracks no file in them', async () => {
  const read = () => readClaudeProject(join(base, 'repo'), { ...env(), PATH: process.env['PATH'] });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: join(base, 'repo') });
  await put('repo/sub/node_modules/a/.claude/skills/s/SKILL.md', skill('hooks: x'));
  git('init', '--quiet');
  expect((await read())?.files).toHaveLength(1);
  await put('repo/.gitignore', 'node_modules\n');
  expect(await read()).toBeUndefined();
  git('add', '--force', 'sub');
  expect((await read())?.files).toHaveLength(1);
});

test('a folder with too many folders gets a note', async () => {
  for (let at = 0; at < 2_001; at += 1)
    await mkdir(join(base, 'repo/project', String(at)), { recursive: true });
  const settings = await claude();
  expect(settings?.files).toMatchObject([{ path: join(base, 'repo/project') }]);
  expect(settings?.problem).toBeUndefined();
});

test('settings that differ only by a newly allowed rule count as unchanged', async () => {
  await put('repo/project/readme.md', '');
  const npm = { toolName: 'Bash', ruleContent: 'npm test:*' };
  const local = 'repo/project/.claude/settings.local.json';
  const none = await claude();
  await put(local, json({ permissions: { allow: ['Bash(npm test:*)'] } }));
  const one = (await claude())!;
  expect(differOnlyByRules(none, one, [npm])).toBe(true);
  expect(differOnlyByRules(none, one, [])).toBe(false);
  await put(local, json({ permissions: { allow: ['Bash(npm test:*)', 'Bash'] } }));
  expect(differOnlyByRules(one, (await claude())!, [npm])).toBe(false);
  await put(local, json({ permissions: { allow: ['Bash(npm test:*)'] }, hooks }));
  expect(differOnlyByRules(one, (await claude())!, [npm])).toBe(false);
  await put(local, json({ permissions: { allow: ['Bash(npm test:*)'], defaultMode: 'auto' } }));
  expect(differOnlyByRules(none, (await claude())!, [npm])).toBe(false);
  // The file is not an object, and how Claude Code reads such a file is unknown.
  for (const permissions of ['bypass', ['Bash(npm test:*)'], null]) {
    await put(local, json({ permissions }));
    expect(differOnlyByRules(none, (await claude())!, [npm])).toBe(false);
  }
});
