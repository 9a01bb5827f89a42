/** The setup of a session of the real Claude Code. */
import { join } from 'node:path';
import { reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude } from './running-claude.ts';

const settings = (hook: string, permissions: object) =>
  JSON.stringify({
    permissions,
    hooks: { Stop: [{ hooks: [{ type: 'command', command: hook }] }] },
  });

test('rules, hooks, skills, memory files and the account are listed with their sources, without a model request', async () => {
  const { api, create, provider, workspace } = await runClaude(() => [reply('Yes.')], {
    files: {
      'CLAUDE.md': 'Use tabs.',
      '.claude/settings.json': settings('true of the project', { deny: ['Read(./secret)'] }),
      '.claude/skills/neat/SKILL.md': '---\nname: neat\ndescription: Be neat\n---\nTidy up.',
    },
    config: { 'settings.json': settings('true of the user', { allow: ['Bash(npm test)'] }) },
  });
  const { sessionId } = await create();
  const { facts, parts } = (await provider.setup?.(sessionId)) ?? { facts: [], parts: [] };
  const of = (kind: string) => parts.find((part) => part.kind === kind)?.entries;
  expect(Object.fromEntries(facts.map(({ name, value }) => [name, value]))).toMatchObject({
    Version: expect.stringMatching(/^2\./),
    Account: 'API key (ANTHROPIC_API_KEY)',
  });
  expect(of('permissions')).toEqual(
    expect.arrayContaining([
      { name: 'Bash(npm test)', detail: 'Allowed', source: 'user settings' },
      { name: 'Read(./secret)', detail: 'Refused', source: 'project settings' },
    ]),
  );
  expect(of('hooks')).toEqual([
    { name: 'Stop', detail: 'true of the user', source: expect.stringContaining('User') },
    { name: 'Stop', detail: 'true of the project', source: expect.stringContaining('Project') },
  ]);
  const { projectDir } = workspace;
  expect(of('skills')).toContainEqual({
    name: 'neat',
    source: join(projectDir, '.claude/skills/neat/SKILL.md'),
  });
  expect(of('memory')).toEqual([{ name: join(projectDir, 'CLAUDE.md'), source: 'Project' }]);
  expect(JSON.stringify({ facts, parts })).not.toContain('scripted');
  expect(api.requests).toEqual([]);
});
