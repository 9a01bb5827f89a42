/**
 * The output of `GET /metrics` after some turns. The table and the dashboard in docs/operations.md must contain exactly
 * these metrics.
 */
import { readFileSync } from 'node:fs';
import type { Usage } from '@liminal/protocol';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { boardPath, boardText } from '../../../scripts/grafana.ts';
import { bearer, startServer, type TestServer } from './harness.ts';

let server: TestServer;
let text = '';

const scrape = async () => (await server.app.inject({ url: '/metrics', headers: bearer })).body;

beforeAll(async () => {
  server = await startServer();
  await playTurns(server);
  text = await scrape();
});
afterAll(() => server.close());

const usage: Usage = { inputTokens: 10, outputTokens: 5, cacheReadInputTokens: 100 };

/** Waits for a condition in a hook, where `expect.poll` does not work. */
const until = async (look: () => Promise<boolean>) =>
  vi.waitFor(async () => expect(await look()).toBe(true), { timeout: 60_000 });

/** Runs two complete turns, a turn that a person stops after a permission request, and a turn that fails. */
async function playTurns({ runtime, agent, folder, app }: TestServer): Promise<void> {
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir: folder });
  const over = async (turnId: string, status: string) => {
    await until(async () => (await runtime.getRun(turnId)).status === status);
    await until(async () => (await runtime.status(sessionId)).state !== 'running');
  };

  for (const costUsd of [0.25, 0.75]) {
    const { turnId } = await runtime.send(sessionId, 'Hello');
    const message = agent.message(sessionId, `m-${turnId}`);
    message.more('Hi');
    message.done();
    agent.emit(sessionId, { type: 'usage_update', usage: { ...usage, costUsd } });
    agent.end(sessionId);
    await over(turnId, 'complete');
  }
  const stopped = await runtime.send(sessionId, 'May I?');
  const asked = { itemId: 'p', approvalId: 'p', title: 'Run it?', options: [] };
  agent.emit(sessionId, { type: 'item_start', itemType: 'approval', ...asked });
  await until(async () => (await scrape()).includes('\nliminal_approvals_waiting 1\n'));
  await runtime.cancel(sessionId);
  agent.end(sessionId, 'cancelled');
  await over(stopped.turnId, 'aborted');
  const failed = await runtime.send(sessionId, 'Fail');
  const error = { code: 'OVERLOADED', message: 'Try again.' };
  agent.emit(sessionId, { type: 'response_error', error });
  await over(failed.turnId, 'error');
  await app.inject({ url: '/api/run/none', headers: bearer });
}

const turn = 'agent="scripted",model="model"';

test.each([
  `liminal_turns_total{${turn},status="complete"} 2`,
  `liminal_turns_total{${turn},status="aborted"} 1`,
  `liminal_turns_total{${turn},status="error"} 1`,
  'liminal_turn_errors_total{agent="scripted",code="OVERLOADED"} 1',
  `liminal_tokens_total{${turn},kind="input"} 20`,
  `liminal_tokens_total{${turn},kind="output"} 10`,
  `liminal_tokens_total{${turn},kind="cache_read"} 200`,
  `liminal_cost_dollars_total{${turn}} 0.75`,
  `liminal_first_text_seconds_count{${turn}} 2`,
  `liminal_turn_seconds_count{${turn}} 4`,
  'liminal_approval_wait_seconds_count{agent="scripted"} 1',
  'liminal_approvals_waiting 0',
  'liminal_log_refusals_total 0',
  'liminal_http_refusals_total{code="RUN_NOT_FOUND"} 1',
  'liminal_turns_running 0',
  'liminal_queued_messages 0',
])('each turn is counted once: %s', (line) => {
  expect(text.split('\n')).toContain(line);
});

test('the metrics are in the text format of Prometheus', async () => {
  const answer = await server.app.inject({ url: '/metrics', headers: bearer });
  expect(answer.headers['content-type']).toContain('text/plain; version=0.0.4');
  const sample = /^\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? (\+Inf|[\d.]+(e[+-]\d+)?)$/;
  const lines = answer.body.trimEnd().split('\n');
  const samples = lines.filter((line) => !/^# (HELP|TYPE) \w+ .+$/.test(line));
  expect(samples.length).toBeGreaterThan(20);
  for (const line of samples) expect(line).toMatch(sample);
});

test('no label contains an id or a path', () => {
  expect(text).not.toMatch(/[\da-f]{8}-[\da-f]{4}/);
  expect(text).not.toContain(server.folder);
});

/** Returns all metrics, with their help and type. */
function describedMetrics(): Map<string, { help: string; type: string }> {
  const helps = [...text.matchAll(/^# HELP (\w+) (.+)$/gm)];
  return new Map(
    helps.map(([, name, help]) => {
      const [, type] = new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(text)!;
      return [name!, { help: help!, type: type! }];
    }),
  );
}

describe('docs/operations.md', () => {
  const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');

  test('the page has a row for each metric, with its type and help', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| .*? \| (.+) \|$/gm)];
    const listed = rows.map(([, name, type, help]) => [name!, { type: type!, help: help! }]);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(describedMetrics()));
  });
});

describe('the board for Grafana', () => {
  const file = readFileSync(boardPath, 'utf8');

  test('the file in docs is the file that scripts/grafana.ts writes', () => {
    expect(JSON.parse(file)).toEqual(JSON.parse(boardText()));
  });

  test('the board queries every metric, and no other metrics', () => {
    const exprs = [...file.matchAll(/"expr": (".+")/g)].map(([, expr]) =>
      String(JSON.parse(expr!)),
    );
    const names = exprs.flatMap((expr) => expr.match(/\b(liminal|process|nodejs)_\w+/g) ?? []);
    const asked = names.map((name) => name.replace(/_bucket$/, ''));
    expect([...new Set([...asked, 'liminal_subscriptions'])].toSorted()).toEqual(
      [...describedMetrics().keys()].toSorted(),
    );
  });
});
