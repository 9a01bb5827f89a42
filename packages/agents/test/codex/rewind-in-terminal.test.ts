/** A rewind in Liminal has the same effect as by hand in Codex' own terminal: the model gets the same messages. */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, codexBinary, codexEnvironment } from '@liminal/testkit';
import { Terminal } from '@liminal/testkit/terminal';
import { expect, onTestFinished, test } from 'vitest';
import { endTree } from '../../src/process/index.ts';
import { type RunningCodex, runCodex } from './running-codex.ts';

const patience = { timeout: 90_000 };

/** Opens Codex' own terminal. */
async function openTerminal({ workspace }: RunningCodex, prompt: string) {
  const { home, projectDir } = workspace;
  const trust = `\n[projects.${JSON.stringify(projectDir)}]\ntrust_level = "trusted"\n`;
  await appendFile(join(home, '.codex', 'config.toml'), trust);
  const terminal = new Terminal([codexBinary(), prompt], {
    cwd: projectDir,
    env: codexEnvironment(home),
  });
  onTestFinished(async () => void (await endTree({ child: terminal.child })));
  return terminal;
}

/** Returns the messages of people and the model in the newest request that ends with this message. */
function heard({ api }: RunningCodex, last: string): string[] | undefined {
  const said = api.requests.map(({ body }) => {
    const items = body.input as { role?: string; content?: { text?: string }[] }[];
    return items
      .filter(({ role }) => role === 'user' || role === 'assistant')
      .flatMap(({ content = [] }) => content.map(({ text = '' }) => text))
      .filter((text) => !text.startsWith('<environment_context>'));
  });
  return said.findLast((texts) => texts.at(-1) === last);
}

test('after a rewind to before turn 2 of 3, the model gets the same messages as after a rewind by hand', async () => {
  // The terminal also requests titles.
  const codex = await runCodex(() => Array.from({ length: 20 }, () => answer('Answer.')));
  const terminal = await openTerminal(codex, 'Ask 1');
  await terminal.draws('', /Workedfor/);
  for (const n of [2, 3]) {
    await terminal.draws(`Ask ${n}`, new RegExp(String(n)));
    await terminal.draws('\r', /Workedfor/);
  }
  await terminal.draws('\u001B', /escag/);
  await terminal.draws('\u001B', /Browsingtranscript/);
  await terminal.draws('\u001B[D', /Ask2/);
  await terminal.draws('\r', /Conversationreverted/);
  await terminal.draws('\u0015', /./);
  await terminal.draws('Ask anew', /anew/);
  await terminal.draws('\r', /Workedfor/);
  await expect.poll(() => heard(codex, 'Ask anew'), patience).toBeDefined();
  const byHand = heard(codex, 'Ask anew');
  expect(byHand).toEqual(['Ask 1', 'Answer.', 'Ask anew']);

  const listener = await codex.create();
  const turnIds: string[] = [];
  for (const n of [1, 2, 3]) turnIds.push((await listener.ask(`Ask ${n}`)).turnId);
  const kept = { runs: async () => [] };
  const wanted = { turnIds: turnIds.slice(1), remaining: kept };
  await codex.provider.rewindConversation(listener.sessionId, wanted);
  const before = codex.api.requests.length;
  await listener.ask('Ask anew');
  expect(codex.api.requests.length).toBeGreaterThan(before);
  expect(heard(codex, 'Ask anew')).toEqual(byHand);
});
