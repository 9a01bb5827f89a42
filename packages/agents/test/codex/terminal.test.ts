/** The same sessions in Liminal and in Codex' own terminal. */
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testAtLength } from '@liminal/testkit/at-length';
import { answer, codexBinary, codexEnvironment } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { foldTurns } from '../../src/testing/folding.ts';
import { endTree } from '../../src/process/index.ts';
import { Listener, messagesOf } from '../acp/running-agent.ts';
import { runCodex, type RunningCodex } from './running-codex.ts';

async function storedTurns({ provider, workspace }: RunningCodex, id: string): Promise<string[][]> {
  const stored = await provider.readStoredHistory(id, workspace.projectDir);
  return [...foldTurns(stored.flatMap(({ events }) => events)).values()].map(messagesOf);
}

test('the terminal can continue a session of Liminal, and Liminal reads its turn', async () => {
  const codex = await runCodex(() => [answer('Hello.'), answer('Hello again.')]);
  const { api, provider, workspace } = codex;
  const { home, projectDir } = workspace;
  const listener = new Listener(provider, randomUUID());
  await provider.createSession({ sessionId: listener.sessionId, projectDir });
  await listener.ask('Said here.');
  const id = await listener.agentSessionId();
  await provider.killSession(listener.sessionId);

  const args = ['exec', '--skip-git-repo-check', 'resume', id, 'Said in the terminal.'];
  const running = promisify(execFile)(codexBinary(), args, {
    cwd: projectDir,
    env: codexEnvironment(home),
  });
  running.child.stdin?.end();
  expect((await running).stdout).toContain('Hello again.');
  const heard = JSON.stringify(api.requests.at(-1)?.body.input);
  for (const words of ['Said here.', 'Hello.', 'Said in the terminal.'])
    expect(heard).toContain(words);
  expect(await storedTurns(codex, id)).toEqual([
    ['user: Said here.', 'agent: Hello.'],
    ['user: Said in the terminal.', 'agent: Hello again.'],
  ]);
});

testAtLength('Liminal lists, reads and continues a session of the terminal', async () => {
  const codex = await runCodex(() =>
    ['Hello.', 'Hello again.', 'And on.'].map((text) => answer(text)),
  );
  const { api, provider, workspace } = codex;
  const { home, projectDir } = workspace;
  const trust = `\n[projects.${JSON.stringify(projectDir)}]\ntrust_level = "trusted"\n`;
  await appendFile(join(home, '.codex', 'config.toml'), trust);
  const env = { ...codexEnvironment(home), TERM: 'xterm-256color' };
  // Codex needs a terminal, which `script` provides.
  const terminal = spawn('script', ['-qfec', `${codexBinary()} 'Said there.'`, '/dev/null'], {
    cwd: projectDir,
    env,
  });
  const end = () => endTree({ child: terminal });
  onTestFinished(async () => void (await end()));
  terminal.stdout.on('data', (chunk: Buffer) => {
    // A terminal answers queries for its cursor position and its type.
    if (chunk.includes('\u001b[6n')) terminal.stdin.write('\u001b[1;1R');
    if (chunk.includes('\u001b[c')) terminal.stdin.write('\u001b[?1;2c');
  });
  const patience = { timeout: 30_000 };
  const listed = () => provider.listStoredSessions(projectDir);
  await expect.poll(listed, patience).toMatchObject([{ projectDir, title: 'Said there.' }]);
  const id = (await listed())[0]!.sessionId;
  // The thread's file has the same title, without a Codex process.
  expect(await provider.scanStoredSessions()).toMatchObject([
    { sessionId: id, projectDir, title: 'Said there.' },
  ]);
  await expect
    .poll(async () => storedTurns(codex, id), patience)
    .toEqual([['user: Said there.', 'agent: Hello.']]);
  await end();

  const listener = new Listener(provider, randomUUID());
  await provider.loadSession(listener.sessionId, { projectDir, agentSessionId: id });
  expect(messagesOf(await listener.ask('Said here.')).at(0)).toBe('user: Said here.');
  expect(JSON.stringify(api.requests.at(-1)?.body.input)).toContain('Said there.');
});
