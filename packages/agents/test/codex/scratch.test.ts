import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, codexBinary, codexEnvironment, noteKeeper } from '@liminal/testkit';
import { Terminal } from '@liminal/testkit/terminal';
import { onTestFinished, test } from 'vitest';
import { endTree } from '../../src/process/index.ts';
import { runCodex } from './running-codex.ts';
test('look', async () => {
  const codex = await runCodex(
    () => (request) => answer(request.prompt.startsWith('Generate') ? 'Title' : 'Yes.'),
  );
  const { home, projectDir } = codex.workspace;
  const k = noteKeeper('The pears are ripe.');
  await writeFile(join(projectDir, 'keeper-file.txt'), 'x');
  await appendFile(
    join(home, '.codex', 'config.toml'),
    `\n[projects.${JSON.stringify(projectDir)}]\ntrust_level = "trusted"\n[mcp_servers.keeper]\ncommand=${JSON.stringify(k.command)}\nargs=${JSON.stringify(k.args)}\nenv={NOTE="The pears are ripe."}\n`,
  );
  const terminal = new Terminal([codexBinary(), '--no-daemon'], {
    cwd: projectDir,
    env: codexEnvironment(home),
  });
  onTestFinished(async () => void (await endTree({ child: terminal.child })));
  await terminal.shows(/Ask Codex[^]*Scripted default/);
  await new Promise((r) => setTimeout(r, 6000));
  terminal.press('@keeper');
  await new Promise((r) => setTimeout(r, 5000));
  await writeFile('/tmp/codexplan/codex-res1.txt', terminal.screen);
  terminal.press(':notes://today');
  await new Promise((r) => setTimeout(r, 5000));
  await writeFile('/tmp/codexplan/codex-res2.txt', terminal.screen);
  terminal.press('\u001b');
  await new Promise((r) => setTimeout(r, 1000));
  terminal.press(' and say.\r');
  await terminal.shows(/Worked for/);
  terminal.press('/mcp\r');
  await new Promise((r) => setTimeout(r, 3000));
  terminal.press('/mcp verbose\r');
  await new Promise((r) => setTimeout(r, 6000));
  await writeFile('/tmp/codexplan/codex-res3.txt', terminal.screen);
  await writeFile(
    '/tmp/codexplan/codex-res.json',
    JSON.stringify(
      codex.api.requests.map(({ body }) => ({
        i: body.input,
        t: (body.tools as any[])?.map((t) => t.name),
      })),
      null,
      1,
    ),
  );
}, 200000);
