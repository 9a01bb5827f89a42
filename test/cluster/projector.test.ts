import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { byPrompt, reply } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { Cluster } from './cluster.ts';

const main = fileURLToPath(new URL('../../packages/cli/bin/liminal.js', import.meta.url));

test('a projector beside the servers brings into history what they leave to it, and ends when it is asked to', async () => {
  const script = byPrompt({ 'Hello.': [reply('Hi.')], 'And now?': [reply('On we go.')] });
  const cluster = await Cluster.start({ servers: 1, script, config: { projector: false } });
  const [a] = cluster.members;
  const sessionId = await cluster.create(a!);
  const reader = await a!.follow(sessionId);
  const { turnId } = await a!.requests.send(sessionId, 'Hello.');
  await reader.ended(turnId);
  const next = await a!.requests.send(sessionId, 'And now?');
  expect(next.queued).toBe(true);
  const metrics = async () => {
    const headers = { authorization: `Bearer ${a!.server.token}` };
    return (await fetch(`${a!.server.origin}/metrics`, { headers })).text();
  };
  expect(await metrics()).toContain('\nliminal_projector_backlog_runs 1\n');

  const { env, dataDir } = cluster;
  const projector = spawn(process.execPath, [main, 'projector', '--data', dataDir], { env });
  const exited = once(projector, 'exit');
  onTestFinished(() => void projector.kill('SIGKILL'));
  expect(await reader.ended(next.turnId)).toMatchObject({ status: 'complete' });
  await expect.poll(metrics).toContain('\nliminal_projector_backlog_runs 0\n');
  expect(await a!.requests.getRun(turnId)).toMatchObject({ status: 'complete' });
  projector.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

test('a projector without anything to share says what it needs', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [main, 'projector', '--data', '/nowhere'],
    {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    },
  );
  expect(status).toBe(2);
  expect(stderr).toMatch(/set LIMINAL_REDIS_URL and LIMINAL_DATABASE_URL/);
});
