/** The commands in the menu of Codex' own terminal, compared with the table behind docs/agents.md. */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codexBinary, codexEnvironment } from '@liminal/testkit';
import { pageThroughMenu, Terminal } from '@liminal/testkit/terminal';
import { expect, onTestFinished, test } from 'vitest';
import { commandPlaces } from '../../../../scripts/agent-interfaces/terminals.ts';
import { endTree } from '../../src/process/index.ts';
import { runCodex } from './running-codex.ts';

test('each command in the menu has an entry in the table', async () => {
  const { workspace } = await runCodex(() => []);
  const { home, projectDir } = workspace;
  const trust = `\n[projects.${JSON.stringify(projectDir)}]\ntrust_level = "trusted"\n`;
  await appendFile(join(home, '.codex', 'config.toml'), trust);
  const terminal = new Terminal([codexBinary()], { cwd: projectDir, env: codexEnvironment(home) });
  onTestFinished(async () => void (await endTree({ child: terminal.child })));

  const menu = await pageThroughMenu(terminal);
  expect(menu).toEqual(expect.arrayContaining(['model', 'review', 'compact', 'exit']));
  expect(menu.filter((name) => !Object.hasOwn(commandPlaces.Codex, name))).toEqual([]);
});
