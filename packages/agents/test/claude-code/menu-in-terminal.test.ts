/** The commands in the menu of Claude Code's own terminal, compared with the table behind docs/agents.md. */
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { claudeEnvironment } from '@liminal/testkit';
import { pageThroughMenu, Terminal } from '@liminal/testkit/terminal';
import { expect, onTestFinished, test } from 'vitest';
import { commandPlaces } from '../../../../scripts/agent-interfaces/terminals.ts';
import { endTree } from '../../src/process/index.ts';
import { runClaude } from './running-claude.ts';

const program = createRequire(import.meta.url).resolve(
  `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
);

test('each command in the menu of Claude Code’s terminal has an entry in the table', async () => {
  const { api, workspace } = await runClaude(() => []);
  const { home, projectDir } = workspace;
  const folder = join(home, '.claude');
  await mkdir(folder, { recursive: true });
  const known = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    projects: {
      [projectDir]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true },
    },
    customApiKeyResponses: { approved: ['scripted'], rejected: [] },
  };
  await writeFile(join(folder, '.claude.json'), JSON.stringify(known));
  const env = claudeEnvironment(home, api.url);
  const terminal = new Terminal([program], { cwd: projectDir, env });
  onTestFinished(async () => void (await endTree({ child: terminal.child })));
  await terminal.draws('', /foragents/);

  const menu = await pageThroughMenu(terminal);
  expect(menu).toEqual(expect.arrayContaining(['model', 'compact', 'exit']));
  expect(menu.filter((name) => !Object.hasOwn(commandPlaces['Claude Code'], name))).toEqual([]);
});
