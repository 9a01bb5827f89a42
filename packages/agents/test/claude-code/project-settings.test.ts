/** Which files of a project folder make the real Claude Code run something, and that nothing runs without agreement. */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reply, type Script, toolUse, type Workspace } from '@liminal/testkit';
import { expect, test } from 'vitest';
import type { ProjectSettings, ProjectTrust } from '../../src/contract/project-settings.ts';
import { readClaudeProject } from '../../src/kinds/claude-code/project-settings.ts';
import { ClaudeListener, runClaude, messagesOf } from './running-claude.ts';

/** A project trust with a fixed decision, which records its calls. */
class Decision implements ProjectTrust {
  readonly isAgreed: boolean;
  readonly seen: ProjectSettings[] = [];
  readonly changes: ProjectSettings[] = [];

  constructor(isAgreed: boolean) {
    this.isAgreed = isAgreed;
  }

  async uses(settings: ProjectSettings): Promise<boolean> {
    this.seen.push(settings);
    return this.isAgreed;
  }

  started(): void {}

  async changed(settings: ProjectSettings): Promise<void> {
    this.changes.push(settings);
  }
}

const hook = (event: string, command: string) => ({
  [event]: [{ hooks: [{ type: 'command', command }] }],
});

/**
 * Everything that can run something, in every folder from the repository down; each leaves a file with its own name.
 */
async function fill(root: string, marks: string): Promise<void> {
  for (const [name, folder, skillName] of [
    ['root', root, 's'],
    ['sub', join(root, 'sub'), 's'],
    ['deep', join(root, 'sub', 'deep'), 's'],
    ['package', join(root, 'sub', 'node_modules', 'a'), 'p'],
    ['inner', join(root, 'sub', '.claude', 'a'), 'i'],
  ] as const) {
    const touch = (what: string): string => `touch ${join(marks, `${name}-${what}`)}`;
    const skill = (what: string): string =>
      [
        '---',
        `name: ${name}-${what}`,
        'description: Does something.',
        'allowed-tools: Bash(touch *)',
        'hooks:',
        '  PreToolUse:',
        '    - hooks: [{type: command, command: '.concat(touch(`${what}-hook`), '}]'),
        '---',
        `!\`${touch(what)}\``,
      ].join('\n');
    const files = {
      'a.txt': name,
      '.claude/settings.json': JSON.stringify({
        hooks: { ...hook('SessionStart', touch('start')), ...hook('Stop', touch('stop')) },
        enableAllProjectMcpServers: true,
      }),
      '.claude/settings.local.json': JSON.stringify({
        hooks: hook('UserPromptSubmit', touch('local')),
      }),
      '.mcp.json': JSON.stringify({
        mcpServers: { [name]: { command: '/bin/sh', args: ['-c', `${touch('mcp')}; cat`] } },
      }),
      [`.claude/skills/${skillName}/SKILL.md`]: skill('skill'),
      '.claude/commands/c.md': skill('command'),
    };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(folder, path, '..'), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  }
}

const script = ({ projectDir }: Workspace): Script => [
  ...['deep', 'node_modules/a', '.claude/a'].map((folder) =>
    reply(toolUse('Read', { file_path: join(projectDir, 'sub', folder, 'a.txt') })),
  ),
  reply('Read.'),
  ...Array.from({ length: 20 }, () => reply('Yes.')),
];

/** The marks that Claude Code 2.1.330 leaves; a later version may leave more. */
const atLeast = [
  'deep-skill',
  'inner-skill',
  'package-skill',
  'root-local',
  'root-mcp',
  'sub-local',
  'sub-mcp',
  'sub-skill',
  'sub-start',
  'sub-stop',
];

test.each([true, false])(
  'everything that runs was shown before; nothing runs without agreement (agreed: %s)',
  async (isAgreed) => {
    const projectTrust = new Decision(isAgreed);
    const claude = await runClaude(script, { projectTrust });
    const { home, projectDir } = claude.workspace;
    // Skills may write only in the folder of the session.
    const marks = join(projectDir, 'sub', 'marks');
    await mkdir(marks, { recursive: true });
    execFileSync('git', ['init', '--quiet'], { cwd: projectDir });
    await fill(projectDir, marks);
    const { sessionId } = await claude.provider.createSession({
      projectDir: join(projectDir, 'sub'),
    });
    const listener = new ClaudeListener(claude.provider, sessionId);
    await listener.ask('Read it.');
    for (const name of [
      '/s',
      '/deep:s',
      '/root-skill',
      '/sub-skill',
      '/deep-skill',
      '/package-skill',
      '/inner-skill',
      '/c',
    ]) {
      await listener.ask(name);
    }
    await claude.provider.killSession(sessionId);

    const ran = await readdir(marks);
    const settings = await readClaudeProject(join(projectDir, 'sub'), { HOME: home });
    const shown = settings?.files.map(({ text }) => text).join('\n') ?? '';
    expect(projectTrust.seen[0]).toEqual(settings);
    expect(ran.filter((mark) => !shown.includes(mark))).toEqual([]);
    expect({ agreed: isAgreed, missing: atLeast.filter((mark) => !ran.includes(mark)) }).toEqual({
      agreed: isAgreed,
      missing: isAgreed ? [] : atLeast,
    });
    expect(isAgreed || ran.length === 0).toBe(true);
  },
);

const asked = async (listener: ClaudeListener) => {
  const { payload } = await listener.event(
    (one) => one.type === 'item_start' && one.itemType === 'approval',
  );
  if (payload.type !== 'item_start') throw new Error('Nothing was asked.');
  return payload;
};

test('a settings change by a person’s “always allow” counts as agreed to', async () => {
  const projectTrust = new Decision(false);
  const claude = await runClaude(
    () => [reply(toolUse('Bash', { command: 'npm --version' })), reply('Done.')],
    { projectTrust },
  );
  const listener = await claude.create();
  const { turnId } = await listener.send('Run it.');
  const { approvalId = '', options = [] } = await asked(listener);
  const always = options.find(({ name }) => name.endsWith('in this project'));
  await claude.provider.answerApproval(listener.sessionId, approvalId, {
    optionId: always?.optionId ?? '',
  });
  await listener.ended(turnId);
  const { projectDir, home } = claude.workspace;
  const local = await readFile(join(projectDir, '.claude', 'settings.local.json'), 'utf8');
  expect(local).toContain('npm --version');
  expect(projectTrust.changes).toEqual([await readClaudeProject(projectDir, { HOME: home })]);
});

test('without the project’s settings, “always allow” applies to the session', async () => {
  const claude = await runClaude(
    () => [reply(toolUse('Bash', { command: 'npm --version' })), reply('Done.')],
    {
      projectTrust: new Decision(false),
      files: { '.claude/settings.json': JSON.stringify({ env: { A: 'b' } }) },
    },
  );
  const listener = await claude.create();
  const { turnId } = await listener.send('Run it.');
  const { approvalId = '', options = [] } = await asked(listener);
  const names = options.map(({ name }) => name).join('\n');
  expect(names).toContain('in this session');
  expect(names).not.toContain('in this project');
  const optionId = options.find(({ kind }) => kind === 'allow_always')?.optionId ?? '';
  await claude.provider.answerApproval(listener.sessionId, approvalId, { optionId });
  await listener.ended(turnId);
  expect(await readdir(join(claude.workspace.projectDir, '.claude'))).toEqual(['settings.json']);
});

test('a skill that appeared during the turn is not used before people have agreed', async () => {
  const claude = await runClaude(
    ({ projectDir }) => [
      reply(toolUse('Bash', { command: 'mv hidden .claude; mv .claude sub/' })),
      reply(toolUse('Read', { file_path: join(projectDir, 'sub', 'a.txt') })),
      reply(toolUse('Skill', { skill: 'sub:s' })),
      reply(toolUse('Skill', { skill: 's' })),
      reply('Done.'),
    ],
    {
      projectTrust: new Decision(false),
      files: {
        'sub/a.txt': 'a',
        'hidden/skills/s/SKILL.md':
          '---\nname: s\ndescription: Does it.\nallowed-tools: Bash(touch *)\n---\n!`touch mark`\n',
      },
    },
  );
  const listener = await claude.create({ mode: 'default' });
  const { turnId } = await listener.send('Do it.');
  const { approvalId = '', options = [] } = await asked(listener);
  const { optionId = '' } = options.find(({ kind }) => kind === 'allow_once') ?? {};
  await claude.provider.answerApproval(listener.sessionId, approvalId, { optionId });
  const response = await listener.ended(turnId);
  const outputs = response.outputItems.flatMap((item) =>
    item.type === 'function_call_output' ? item.output : [],
  );
  expect(outputs.join('\n')).toContain('the user has not agreed to them yet');
  expect(messagesOf(response).at(-1)).toBe('agent: Done.');
  // A message that names the skill does not run it.
  claude.api.play(() => reply('Done.'));
  await listener.ask('/s');
  const heard = JSON.stringify(claude.api.requests.at(-1)?.body.messages);
  expect(heard).toContain('<command-name>/s</command-name>');
  expect(await readdir(claude.workspace.projectDir)).not.toContain('mark');
});
