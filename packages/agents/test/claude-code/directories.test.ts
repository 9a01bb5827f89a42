/** Folders besides the project's, with the real Claude Code. */
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reply, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { ClaudeListener, runClaude } from './running-claude.ts';

test('the model gets the list of folders, tools can use the folders, and removed folders can no longer be used', async () => {
  const { api, provider, workspace } = await runClaude(({ home }) => [
    reply(toolUse('Read', { file_path: join(home, 'first/a.txt') })),
    reply('One.'),
    reply('Two.'),
  ]);
  const [first, second] = [join(workspace.home, 'first'), join(workspace.home, 'second')];
  for (const folder of [first, second]) await mkdir(folder);
  await writeFile(join(first, 'a.txt'), 'a needle');
  await mkdir(join(first, '.claude/skills/quokka'), { recursive: true });
  await writeFile(
    join(first, '.claude/skills/quokka/SKILL.md'),
    '---\nname: quokka\ndescription: Theirs\nallowed-tools: Bash\n---\n',
  );
  const listener = new ClaudeListener(provider, crypto.randomUUID());
  const { sessionId } = listener;
  const additionalDirectories = [await realpath(first)];
  await provider.createSession({
    sessionId,
    projectDir: workspace.projectDir,
    additionalDirectories,
  });
  await listener.ask('Read it.');
  const [asked, answered] = api.requests.map((request) => JSON.stringify(request));
  expect(asked).toContain(`Additional working directories:\\n  - ${first}`);
  // No permission was requested for the call.
  expect(answered).toContain('a needle');
  expect(asked).not.toContain('quokka');

  expect(await provider.setDirectories?.(sessionId, [await realpath(second)])).toBe(true);
  await listener.ask('Go on.');
  const update = JSON.stringify(api.requests.at(-1));
  expect(update).toContain(`Additional working directories added:\\n  - ${second}`);
  expect(update).toContain(`Additional working directories removed:\\n  - ${first}`);

  await provider.killSession(sessionId);
  await provider.loadSession(sessionId, {
    projectDir: workspace.projectDir,
    additionalDirectories: await Promise.all([realpath(first), realpath(second)]),
  });
  api.play([reply('Three.')]);
  await listener.ask('And now?');
  const resumed = JSON.stringify(api.requests.at(-1));
  expect(resumed.slice(resumed.indexOf('And now?'))).toContain(
    `Additional working directories added:\\n  - ${first}`,
  );
});
