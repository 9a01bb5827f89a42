/** Claude Code goes back to before a message here as by hand in its own terminal: its model hears the same. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { claudeEnvironment, type MessagesRequest, reply } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { endTree } from '../../src/process/index.ts';
import { Listener, runClaude, type RunningClaude } from './running-claude.ts';

const program = createRequire(import.meta.url).resolve(
  `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
);
const patience = { timeout: 60_000 };

/** Claude Code's own screen, which `script` gives a terminal. */
async function openTerminal({ api, workspace }: RunningClaude) {
  const { home, projectDir } = workspace;
  const folder = join(home, '.claude');
  await mkdir(folder, { recursive: true });
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const known = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    projects: { [projectDir]: project },
    customApiKeyResponses: { approved: ['scripted'], rejected: [] },
  };
  await writeFile(join(folder, '.claude.json'), JSON.stringify(known));
  const line = `stty rows 40 cols 100; exec '${program}'`;
  const terminal = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: projectDir,
    env: { ...claudeEnvironment(home, api.url), TERM: 'xterm-256color', SHELL: '/bin/sh' },
  });
  onTestFinished(async () => void (await endTree({ child: terminal })));
  let output = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  /** Types, and waits for what is drawn then, without its spaces: some of them are moves of the cursor. */
  return async (keys: string, shows: RegExp): Promise<void> => {
    const before = output.length;
    terminal.stdin.write(keys);
    const drawn = () => stripVTControlCharacters(output.slice(before)).replaceAll(/\s/g, '');
    await expect.poll(drawn, patience).toMatch(shows);
  };
}

const heard = (request: MessagesRequest | undefined) =>
  request?.body.messages.filter(({ role }) => role === 'user' || role === 'assistant');

test('after turn 2 of 3 its model hears the same as if that was done by hand', async () => {
  const answers = Array.from({ length: 8 }, (_, at) => reply(`Answer ${(at % 4) + 1}`));
  const claude = await runClaude(() => answers);
  const { api, provider, workspace } = claude;
  const type = await openTerminal(claude);
  await type('', /foragents/);
  for (const n of [1, 2, 3]) {
    await type(`Ask ${n}`, new RegExp(`Ask${n}`));
    await type('\r', new RegExp(`Answer${n}.*for\\d+s`));
  }
  await type('/rewind', /rewind/);
  await type('\r', /Entertocontinue/);
  await type('\u001B[A', /❯Ask3/);
  await type('\u001B[A', /❯Ask2/);
  await type('\r', /1\.Restoreconversation/);
  await type('\r', /❯Ask2/);
  await type('\u0015', /./);
  await type('Ask anew', /Askanew/);
  await type('\r', /Answer4/);
  const byHand = heard(api.requests.at(-1));

  const listener = new Listener(provider, randomUUID());
  const { sessionId } = listener;
  await provider.createSession({ projectDir: workspace.projectDir, sessionId });
  const turnIds: string[] = [];
  for (const n of [1, 2, 3]) turnIds.push((await listener.ask(`Ask ${n}`)).turnId);
  const kept = { runs: async () => [] };
  await provider.rewindConversation(sessionId, { turnIds: turnIds.slice(1), kept });
  await listener.ask('Ask anew');
  expect(heard(api.requests.at(-1))).toEqual(byHand);
  expect(JSON.stringify(byHand)).toContain('Ask anew');
  expect(JSON.stringify(byHand)).not.toMatch(/Ask [23]|Answer [23]/);
});
