/** The list of Codex' threads from their files, compared with Codex' own list. */
import { execFile } from 'node:child_process';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answer, codexBinary, codexEnvironment } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runCodex } from './running-codex.ts';

test('threads are found by their files as soon as they exist, as in Codex’ own list; threads of exec are not', async () => {
  const codex = await runCodex(() => [answer('One.'), answer('Two.'), answer('Three.')]);
  const { provider, workspace } = codex;
  const { home, projectDir } = workspace;
  expect(await provider.scanStoredSessions()).toEqual([]);
  await (await codex.create()).ask('First said.');
  const brief = (found: Awaited<ReturnType<typeof provider.scanStoredSessions>>) =>
    found.map(({ sessionId, projectDir: folder, title }) => ({ sessionId, folder, title }));
  const first = brief(await provider.scanStoredSessions());
  expect(first).toMatchObject([{ folder: projectDir, title: 'First said.' }]);

  const args = ['exec', '--skip-git-repo-check', 'Said to exec.'];
  const running = promisify(execFile)(codexBinary(), args, {
    cwd: projectDir,
    env: codexEnvironment(home),
  });
  running.child.stdin?.end();
  await running;
  await (await codex.create()).ask('Last said.');
  const found = brief(await provider.scanStoredSessions());
  expect(found.map(({ title }) => title)).toEqual(['Last said.', 'First said.']);
  expect(brief(await provider.listStoredSessions())).toEqual(found);
});

test('a file without a message is read again when it has grown, and a broken file is ignored', async () => {
  const { provider, workspace } = await runCodex(() => []);
  const folder = join(workspace.home, '.codex', 'sessions', '2026', '01', '02');
  await mkdir(folder, { recursive: true });
  const id = '019b7c8e-0000-7000-8000-000000000001';
  const path = join(folder, `rollout-2026-01-02T03-04-05-${id}.jsonl`);
  const payload = { id, cwd: '/project', timestamp: '2026-01-02T03:04:05.000Z', source: 'cli' };
  await writeFile(path, `${JSON.stringify({ type: 'session_meta', payload })}\n`);
  await writeFile(join(folder, 'rollout-broken.jsonl'), '{"type":"session_me');
  expect(await provider.scanStoredSessions()).toEqual([]);
  const said = { type: 'user_message', message: 'Said there.' };
  await appendFile(path, `${JSON.stringify({ type: 'event_msg', payload: said })}\n`);
  expect(await provider.scanStoredSessions()).toMatchObject([
    { sessionId: id, projectDir: '/project', title: 'Said there.', createdAt: payload.timestamp },
  ]);
});
