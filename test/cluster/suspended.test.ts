import { byPrompt, reply, text } from '@liminal/testkit';
import { expect, test, vi } from 'vitest';
import { Cluster } from './cluster.ts';

const words = Array.from({ length: 4_000 }, (_, index) => `word${index}`).join(' ');

test('INV-2 INV-8 if a server is suspended, its agent ends when the lease expires, while the server is still suspended; the turn ends once, and the session continues on another server', async () => {
  const script = byPrompt({
    'Talk slowly.': [reply(text(words, { chunk: 12, delayMs: 20 }))],
    'Go on.': [reply('Here I am.')],
    'And on.': [reply('Still here.')],
  });
  const cluster = await Cluster.start({ servers: 2, script });
  const [a, b] = cluster.members;
  const sessionId = await cluster.create(a!);
  const reader = await b!.follow(sessionId);
  const { turnId } = await a!.requests.send(sessionId, 'Talk slowly.');
  await reader.until(() => reader.agentText(turnId).length > 200);
  const agents = cluster.census.withCommand(sessionId);
  expect(agents.map(({ parent }) => parent)).toContain(a!.server.pid);

  process.kill(a!.server.pid, 'SIGSTOP');
  try {
    const pids = new Set(agents.map(({ pid }) => pid));
    const left = () => cluster.census.withCommand(sessionId).filter(({ pid }) => pids.has(pid));
    await expect.poll(left, { timeout: 30_000 }).toEqual([]);
    expect(await reader.ended(turnId)).toMatchObject({ error: { code: 'OWNER_LOST' } });
    const next = await b!.requests.send(sessionId, 'Go on.');
    expect(await reader.ended(next.turnId)).toMatchObject({ status: 'complete' });
  } finally {
    process.kill(a!.server.pid, 'SIGCONT');
  }
  // The connections to Redis have been silent for too long, so the first request may be rejected.
  await vi.waitFor(async () => a!.requests.send(sessionId, 'And on.'), { timeout: 30_000 });
  await reader.until(() => reader.turns.length === 3);
  const last = reader.turns.at(-1)!.turnId;
  expect(await reader.ended(last)).toMatchObject({ status: 'complete' });
  expect(reader.ends(turnId)).toEqual(['turn_error']);
  const { turns } = await a!.requests.history(sessionId);
  expect(turns.map(({ status }) => status)).toEqual(['error', 'complete', 'complete']);
});
