/**
 * Tests a recording as it is used in a bug report: it is exported from one server to a file, and a page plays the file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type LiminalClient } from '@liminal/client';
import { responseToUpserts } from '@liminal/protocol';
import { pixel, reply, text, thinking, toolUse } from '@liminal/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sharedChromium, visit } from './browser.ts';
import { liminal, LiminalServer } from './server.ts';
import { useStage } from './stage.ts';

const stage = useStage({ config: { keepEvents: true } });
const secret = `sk-ant-${'a1B2'.repeat(10)}`;

let client: LiminalClient;
let folder: string;
beforeAll(async () => {
  client = createClient({ baseUrl: stage.server.origin, token: stage.server.token });
  folder = await mkdtemp(join(tmpdir(), 'liminal-replay-test-'));
});
afterAll(async () => {
  client.close();
  await rm(folder, { recursive: true, force: true });
});

/**
 * Plays a session of Claude Code that contains an image, a tool and a secret. The model writes the secret in several
 * parts.
 */
async function claudeSession(): Promise<string> {
  const projectDir = await stage.project('reported');
  const pieces = secret.match(/.{1,6}/g) ?? [];
  stage.api.play([
    reply([thinking('Let me look.'), toolUse('Bash', { command: 'echo found it' })]),
    reply(text(['The key is ', ...pieces, ', and that is the bug.'])),
  ]);
  const { requests } = client;
  const options = { configOptions: { mode: 'bypassPermissions' } };
  const { sessionId } = await requests.createSession({
    cliType: 'claude-code',
    projectDir,
    options,
  });
  const blocks = [{ type: 'image' as const, mimeType: 'image/png', data: pixel, name: 'shot' }];
  const { turnId } = await requests.send(sessionId, 'What is wrong here?', undefined, { blocks });
  await vi.waitFor(
    async () => {
      const { turns, entries } = await requests.history(sessionId);
      const asked = entries.find((one) => one.type === 'approval' && !one.outcome);
      if (asked?.type === 'approval') {
        const [option] = asked.options;
        await requests.answerApproval(sessionId, asked.approvalId, {
          optionId: option?.optionId ?? '',
        });
      }
      expect(turns).toContainEqual(expect.objectContaining({ turnId, status: 'complete' }));
    },
    { timeout: 60_000, interval: 200 },
  );
  return sessionId;
}

function command(env: Record<string, string>, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [liminal, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

test('a run of Claude Code is exported without its secret, is the same after an import on a clean server, and can be played in a browser with mouse, keys and touch', async () => {
  const sessionId = await claudeSession();
  const file = join(folder, 'bug.jsonl');
  const exporting = command(stage.env, 'export', sessionId, '--out', file, '--data', stage.dataDir);
  expect(await once(exporting, 'close')).toEqual([0, null]);

  // The clean server imports the run without the secret, and stores each text of the run only once. The clean server
  // has another home folder, because Claude Code’s own store in the first home folder contains the session.
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder };
  const dataDir = join(folder, 'clean');
  const clean = await LiminalServer.start({ dataDir, env });
  const far = createClient({ baseUrl: clean.origin, token: clean.token });
  const importing = command(env, 'import', file, '--data', dataDir);
  expect(await once(importing, 'close')).toEqual([0, null]);
  const [turn] = (await client.requests.history(sessionId)).turns;
  const [here, there] = [
    await client.requests.getRun(turn?.runId ?? ''),
    await far.requests.getRun(turn?.runId ?? ''),
  ];
  const plain = JSON.stringify(here);
  expect(plain).toContain(secret);
  const expected: unknown = JSON.parse(plain.replaceAll(secret, '[secret: anthropic-key]'));
  expect(there).toEqual(expected);
  expect(responseToUpserts(there, '')).toEqual(responseToUpserts(expected as typeof here, ''));
  far.close();
  await clean.stop();

  const none = { ...env, LIMINAL_DATA_DIR: join(folder, 'none') };
  const playing = command(none, 'replay', file, '--no-open');
  const [line] = (await once(playing.stdout!.setEncoding('utf8'), 'data')) as [string];
  const link = /http\S+/.exec(line)?.[0] ?? '';
  // Another user of the machine, who has no key, cannot open the recording.
  const api = `${new URL(link).origin}/api/session/${sessionId}/export`;
  expect((await fetch(api)).status).toBe(401);
  const viewer = await visit(await sharedChromium(), link, { hasTouch: true });
  const { page } = viewer;
  const slider = page.getByRole('slider', { name: 'Place in the recording' });
  const now = page.locator('footer [data-count]');
  const at = async () => Number(await now.getAttribute('data-count'));
  await slider.waitFor();
  const conversation = page.getByRole('log', { name: 'Conversation' });
  expect(await conversation.getByRole('article').count()).toBe(0);

  await page.keyboard.press('End');
  await conversation.getByText('and that is the bug.').waitFor();
  const total = await at();
  expect(total).toBeGreaterThan(10);
  await conversation.getByText('[secret: anthropic-key]').waitFor();
  const image = conversation.getByRole('img', { name: 'shot' });
  await expect.poll(() => image.evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBe(1);
  expect(await page.getByText('rebuilt').count()).toBe(0);

  await page.keyboard.press('ArrowLeft');
  await expect.poll(at).toBe(total - 1);
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(at).toBe(total);
  await page.keyboard.press('Home');
  await expect.poll(at).toBe(0);

  const spans = page.getByRole('region', { name: 'Spans' });
  await page.keyboard.press('ArrowRight');
  await spans.getByRole('button', { name: /execute_tool Bash/ }).click();
  await expect.poll(at).toBeGreaterThan(2);
  expect(await conversation.getByText('and that is the bug.').count()).toBe(0);
  const { x, y, width, height } = (await slider.boundingBox())!;
  await page.touchscreen.tap(x + width - 4, y + height / 2);
  await expect.poll(at).toBeGreaterThan(total / 2);

  await page.keyboard.press('Home');
  await page.getByRole('combobox', { name: 'Speed' }).selectOption('max');
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(at).toBe(total);
  expect(viewer.problems).toEqual([]);
  await viewer.leave();
  playing.kill('SIGTERM');
  expect(await once(playing, 'close')).toEqual([0, null]);
  expect(await readdir(folder)).not.toContain('none');
});
