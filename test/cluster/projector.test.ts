import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { byPrompt, reply } from '@liminal/testkit';
import { OtlpReceiver } from '@liminal/testkit/otlp-receiver';
import { expect, onTestFinished, test } from 'vitest';
import { Cluster } from './cluster.ts';

const main = fileURLToPath(new URL('../../packages/cli/bin/liminal.js', import.meta.url));

/** Settings with which spans are sent to `url` at once. */
const tracing = (url: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '50',
});

test('FR-001-11 a separate projector stores the servers’ runs in history, adds its spans to each turn’s trace, and stops when asked', async () => {
  const receiver = await OtlpReceiver.start();
  onTestFinished(() => receiver.close());
  const script = byPrompt({ 'Hello.': [reply('Hi.')], 'And now?': [reply('On we go.')] });
  const cluster = await Cluster.start({
    servers: 1,
    script,
    config: { projector: false },
    env: tracing(receiver.url),
  });
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

  const traceparent = (await a!.requests.getRun(turnId)).traceContext?.traceparent.split('-');
  const [, traceId, agent] = traceparent ?? [];
  const ofTurn = () => receiver.at('/v1/traces').spans.filter((span) => span.traceId === traceId);
  await expect.poll(() => ofTurn().map(({ name }) => name)).toContain('delivery websocket');
  const spans = ofTurn();
  const told = spans.map(({ name, parentSpanId, resource }) => {
    return [name, parentSpanId, resource['liminal.role']];
  });
  const request = spans.find(({ name }) => name === 'POST /api/session/:id/send');
  const session = spans.find(({ name }) => name === 'session');
  expect(told).toEqual(
    expect.arrayContaining([
      ['POST /api/session/:id/send', undefined, 'server'],
      ['session', request?.spanId, 'server'],
      ['log append', agent, 'server'],
      ['delivery websocket', agent, 'server'],
      ['projector', agent, 'projector'],
      ['database write', agent, 'projector'],
      ['invoke_agent claude-code', session?.spanId, 'projector'],
    ]),
  );
  expect(spans.filter(({ spanId }) => spanId === agent)).toHaveLength(1);
  expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined)).toEqual([request]);
});

test('a projector without shared storage reports that it needs shared storage', () => {
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
