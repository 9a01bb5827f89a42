/** Codex goes back to before a message here as by hand in its own terminal: its model hears the same. */
import { spawn } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { answer, codexBinary, codexEnvironment } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { endTree } from '../../src/process/index.ts';
import { type RunningCodex, runCodex } from './running-codex.ts';

const patience = { timeout: 90_000 };

/** Codex' own screen, which `script` gives a terminal. */
async function openTerminal({ workspace }: RunningCodex, prompt: string) {
  const { home, projectDir } = workspace;
  const trust = `\n[projects.${JSON.stringify(projectDir)}]\ntrust_level = "trusted"\n`;
  await appendFile(join(home, '.codex', 'config.toml'), trust);
  const line = `stty rows 40 cols 100; exec '${codexBinary()}' '${prompt}'`;
  const terminal = spawn('script', ['-qfec', line, '/dev/null'], {
    cwd: projectDir,
    env: { ...codexEnvironment(home), TERM: 'xterm-256color', SHELL: '/bin/sh' },
  });
  onTestFinished(async () => void (await endTree({ child: terminal })));
  let output = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    // A terminal answers where its cursor is, and what it is.
    if (text.includes('\u001B[6n')) terminal.stdin.write('\u001B[1;1R');
    if (text.includes('\u001B[c')) terminal.stdin.write('\u001B[?1;2c');
  });
  /** Types, and waits for what is drawn then, without its spaces: some of them are moves of the cursor. */
  return async (keys: string, shows: RegExp): Promise<void> => {
    const before = keys === '' ? 0 : output.length;
    if (keys !== '') terminal.stdin.write(keys);
    const drawn = () => stripVTControlCharacters(output.slice(before)).replaceAll(/\s/g, '');
    await expect.poll(drawn, patience).toMatch(shows);
  };
}

/** What people and the model have said in the newest request with this message at its end. */
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

test('after turn 2 of 3 its model hears the same as if that was done by hand', async () => {
  // The terminal asks for titles, too.
  const codex = await runCodex(() => Array.from({ length: 20 }, () => answer('Answer.')));
  const type = await openTerminal(codex, 'Ask 1');
  await type('', /Workedfor/);
  for (const n of [2, 3]) {
    await type(`Ask ${n}`, new RegExp(String(n)));
    await type('\r', /Workedfor/);
  }
  await type('\u001B', /escag/);
  await type('\u001B', /Browsingtranscript/);
  await type('\u001B[D', /Ask2/);
  await type('\r', /Conversationreverted/);
  await type('\u0015', /./);
  await type('Ask anew', /anew/);
  await type('\r', /Workedfor/);
  await expect.poll(() => heard(codex, 'Ask anew'), patience).toBeDefined();
  const byHand = heard(codex, 'Ask anew');
  expect(byHand).toEqual(['Ask 1', 'Answer.', 'Ask anew']);

  const listener = await codex.create();
  const turnIds: string[] = [];
  for (const n of [1, 2, 3]) turnIds.push((await listener.ask(`Ask ${n}`)).turnId);
  const kept = { runs: async () => [] };
  const wanted = { turnIds: turnIds.slice(1), kept };
  await codex.provider.rewindConversation(listener.sessionId, wanted);
  const before = codex.api.requests.length;
  await listener.ask('Ask anew');
  expect(codex.api.requests.length).toBeGreaterThan(before);
  expect(heard(codex, 'Ask anew')).toEqual(byHand);
});
