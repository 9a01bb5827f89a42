/** The setup of a session of the real Codex. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCodex } from './running-codex.ts';

test('permission profiles, hooks, skills and instruction files are listed', async () => {
  const { api, create, provider, workspace } = await runCodex(() => [], {
    files: {
      'AGENTS.md': 'Use tabs.',
      '.agents/skills/neat/SKILL.md': '---\nname: neat\ndescription: Be neat\n---\nTidy up.',
    },
  });
  const { home, projectDir } = workspace;
  const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'exit 0' }] }] };
  await writeFile(join(home, '.codex/hooks.json'), JSON.stringify({ hooks }));
  const { sessionId } = await create();
  const { facts, parts } = (await provider.setup?.(sessionId)) ?? { facts: [], parts: [] };
  const of = (kind: string) => parts.find((part) => part.kind === kind)?.entries;
  expect(facts).toMatchObject([
    { name: 'Version', value: expect.stringMatching(/^0\./) },
    { name: 'Model', value: 'scripted' },
  ]);
  expect(of('permissions')).toContainEqual({ name: ':workspace', source: 'Permission profile' });
  // The hook has not been reviewed, so it is off.
  expect(of('hooks')).toEqual([
    { name: 'stop', detail: 'exit 0', source: join(home, '.codex/hooks.json'), isOff: true },
  ]);
  expect(of('skills')).toContainEqual({
    name: 'neat',
    detail: 'Be neat',
    source: join(projectDir, '.agents/skills/neat/SKILL.md'),
  });
  expect(of('memory')).toEqual([{ name: join(projectDir, 'AGENTS.md') }]);
  expect(api.requests).toEqual([]);
});
