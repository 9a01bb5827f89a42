/** A rewind by Liminal gives the model the same messages as a rewind by hand in Claude Code's own terminal. */
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { claudeEnvironment, type MessagesRequest, reply } from '@liminal/testkit';
import { Terminal } from '@liminal/testkit/terminal';
import { expect, onTestFinished, test } from 'vitest';
import { endTree } from '../../src/process/index.ts';
import { ClaudeListener, runClaude, type RunningClaude } from './running-claude.ts';

const program = createRequire(import.meta.url).resolve(
  `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
);

/** Claude Code's own screen. */
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
  const terminal = new Terminal([program], {
    cwd: projectDir,
    env: claudeEnvironment(home, api.url),
  });
  onTestFinished(async () => void (await endTree({ child: terminal.child })));
  return terminal;
}

const received = (request: MessagesRequest | undefined) =>
  request?.body.messages.filter(({ role }) => role === 'user' || role === 'assistant');

test('after a rewind to turn 2 of 3, the model gets the same messages as after a rewind by hand', async () => {
  const answers = Array.from({ length: 8 }, (_, at) => reply(`Answer ${(at % 4) + 1}`));
  const claude = await runClaude(() => answers);
  const { api, provider, workspace } = claude;
  const terminal = await openTerminal(claude);
  await terminal.draws('', /foragents/);
  for (const n of [1, 2, 3]) {
    await terminal.draws(`Ask ${n}`, new RegExp(`Ask${n}`));
    await terminal.draws('\r', new RegExp(`Answer${n}.*for\\d+s`));
  }
  await terminal.draws('/rewind', /rewind/);
  await terminal.draws('\r', /Entertocontinue/);
  await terminal.draws('\u001B[A', /❯Ask3/);
  await terminal.draws('\u001B[A', /❯Ask2/);
  await terminal.draws('\r', /1\.Restoreconversation/);
  await terminal.draws('\r', /❯Ask2/);
  await terminal.draws('\u0015', /./);
  await terminal.draws('Ask anew', /Askanew/);
  await terminal.draws('\r', /Answer4/);
  const byHand = received(api.requests.at(-1));

  const listener = new ClaudeListener(provider, randomUUID());
  const { sessionId } = listener;
  await provider.createSession({ projectDir: workspace.projectDir, sessionId });
  const turnIds: string[] = [];
  for (const n of [1, 2, 3]) turnIds.push((await listener.ask(`Ask ${n}`)).turnId);
  const kept = { runs: async () => [] };
  await provider.rewindConversation(sessionId, { turnIds: turnIds.slice(1), remaining: kept });
  await listener.ask('Ask anew');
  expect(received(api.requests.at(-1))).toEqual(byHand);
  expect(JSON.stringify(byHand)).toContain('Ask anew');
  expect(JSON.stringify(byHand)).not.toMatch(/Ask [23]|Answer [23]/);
});
