/** A person's own `claude` on the search path, besides Liminal's own. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { greeter, reply } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { oldestClaude } from '../../src/kinds/claude-code/program.ts';
import { runClaude, messagesOf } from './running-claude.ts';

const installed = createRequire(import.meta.url).resolve(
  `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
);

/**
 * Makes a `claude` that prints this version with `--version`. The program records every other start, and then runs
 * `then`.
 */
async function ownClaude(version: string, then = `exec '${installed}' "$@"`) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'liminal-own-claude-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'claude');
  const starts = join(folder, 'starts');
  await writeFile(
    path,
    `#!/bin/sh
if [ "$1" = --version ]; then echo '${version} (Claude Code)'; exit; fi
echo start >> '${starts}'
${then}
`,
  );
  await chmod(path, 0o755);
  const countStarts = async (): Promise<number> =>
    existsSync(starts) ? (await readFile(starts, 'utf8')).trim().split('\n').length : 0;
  return { folder, path, countStarts };
}

const run = (folder: string) =>
  runClaude(() => () => reply('Hello.'), {
    env: { PATH: [folder, process.env['PATH']].join(delimiter) },
    provider: { program: undefined },
  });

test.each([oldestClaude, '9.9.9'])('an own program of version %s is used', async (version) => {
  const { folder, path, countStarts } = await ownClaude(version);
  const { create, provider } = await run(folder);
  expect(messagesOf(await (await create()).ask('Hi.'))).toEqual(['user: Hi.', 'agent: Hello.']);
  expect(await countStarts()).toBe(1);
  const info = await provider.describe();
  expect(info).toMatchObject({ available: true, version, program: path });
  expect(info).not.toHaveProperty('reason');
});

test.each([
  ['that is too old', '2.1.9', `is 2.1.9, and Liminal needs ${oldestClaude} or newer`],
  ['without a version', 'none', 'does not print its version'],
])('an own program %s is not used', async (_, version, why) => {
  const { folder, path, countStarts } = await ownClaude(version);
  const { create, provider } = await run(folder);
  expect(messagesOf(await (await create()).ask('Hi.'))).toEqual(['user: Hi.', 'agent: Hello.']);
  expect(await countStarts()).toBe(0);
  const { reason, program } = await provider.describe();
  expect(program).toBe(installed);
  expect(reason).toMatch(
    new RegExp(
      `^Your own ${path} ${why}. Liminal uses its own \\d+\\.\\d+\\.\\d+\\. Run \`claude update\` in a terminal\\.$`,
    ),
  );
});

test('an own program that does not start is replaced, with a notice, and is not tried again until it changes', async () => {
  const { folder, path, countStarts } = await ownClaude('9.9.9', 'echo No disk. >&2; exit 3');
  const { create, provider } = await run(folder);
  expect(messagesOf(await (await create()).ask('Hi.'))).toEqual([
    'user: Hi.',
    expect.stringMatching(
      `^system: Your own ${path} did not start. This session runs Liminal’s Claude Code `,
    ),
    'agent: Hello.',
  ]);
  expect(messagesOf(await (await create()).ask('Hi.'))).toEqual(['user: Hi.', 'agent: Hello.']);
  expect(await countStarts()).toBe(1);
  expect(await provider.describe()).toMatchObject({
    program: installed,
    reason: expect.stringMatching(/did not start a session \(.*No disk\.?\)/s),
  });
  await writeFile(
    path,
    (await readFile(path, 'utf8')).replace('exit 3', `exec '${installed}' "$@"`),
  );
  expect(await provider.describe()).toMatchObject({ version: '9.9.9', program: path });
});

/** Fails like Claude Code with `disableSideloadFlags`, which an administrator can set. */
const refusesServers = `IFS= read -r line
case "$* $line" in *greeting-door*) echo 'Disabled by managed settings (disableSideloadFlags).' >&2; exit 1;; esac
(printf '%s\\n' "$line"; cat) | exec '${installed}' "$@"`;

test('if an administrator forbids Liminal’s MCP servers, the session starts without them, with a notice', async () => {
  const { path } = await ownClaude('9.9.9', refusesServers);
  const { create } = await runClaude(() => () => reply('Hello.'), {
    provider: { program: path, mcpServers: { 'greeting-door': greeter() } },
  });
  expect(messagesOf(await (await create()).ask('Hi.'))).toEqual([
    'user: Hi.',
    expect.stringContaining('This session runs without Liminal’s MCP servers.'),
    'agent: Hello.',
  ]);
});

test('SAFE: an own program in a relative folder of the search path is not used', async () => {
  const { create, provider, workspace } = await run('bin');
  await mkdir(join(workspace.projectDir, 'bin'));
  const trap = join(workspace.projectDir, 'bin', 'claude');
  await writeFile(trap, '#!/bin/sh\necho "9.9.9 (Claude Code)" > "$0.ran"\n', { mode: 0o755 });
  await (await create()).ask('Hi.');
  expect(await provider.describe()).toMatchObject({ program: installed });
  expect(existsSync(`${trap}.ran`)).toBe(false);
});
