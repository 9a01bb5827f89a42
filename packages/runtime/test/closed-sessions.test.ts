/** Closed sessions are in the store; only the most recently used ones stay in memory. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SessionRuntime } from '../src/runtime.ts';
import { Reader, startWorld, type World } from './harness.ts';

/** The number of closed sessions in this test, more than stay in memory. */
const many = 25;
const kept = 20;

let world: World;

beforeEach(async () => {
  world = await startWorld();
});
afterEach(async () => world.end());

async function runTurn(sessionId: string, message: string): Promise<void> {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  await world.runtime.send(sessionId, message);
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  reader.close();
}

/** A closed session with one turn. */
async function makeClosed(): Promise<string> {
  const { projectDir, runtime } = world;
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  await runTurn(sessionId, `Hello from ${sessionId}`);
  await runtime.kill(sessionId);
  return sessionId;
}

async function makeManyClosed(): Promise<string[]> {
  const ids: string[] = [];
  for (let count = 0; count < many; count += 1) ids.push(await makeClosed());
  return ids;
}

async function messagesIn(sessionId: string): Promise<unknown[]> {
  const { entries } = await world.runtime.history(sessionId);
  return entries.map((entry) => entry.type === 'message' && entry.content);
}

async function inMemory(): Promise<string[]> {
  if (!(world.runtime instanceof SessionRuntime)) throw new Error('It shares its sessions.');
  return (await world.runtime.sessions.inMemory()).map(({ sessionId }) => sessionId);
}

test('only the newest closed sessions stay in memory, even if the others were read', async () => {
  const ids = await makeManyClosed();
  await expect.poll(inMemory).toEqual(ids.slice(-kept));
  for (const id of ids) expect(await messagesIn(id)).toEqual([`Hello from ${id}`]);
  await expect.poll(async () => (await inMemory()).length).toBe(kept);
});

test('a closed session that is no longer in memory is loaded and continues', async () => {
  const [first = ''] = await makeManyClosed();
  await expect.poll(inMemory).not.toContain(first);
  await world.runtime.loadSession(first);
  await runTurn(first, 'And again');
  expect(await messagesIn(first)).toEqual([`Hello from ${first}`, 'And again']);
});

test('a closed session with a reader stays in memory, and sends the reader new turns', async () => {
  const followed = await makeClosed();
  const reader = await new Reader(world.runtime, followed).untilType('session:info');
  await makeManyClosed();
  await expect.poll(async () => (await inMemory()).length).toBe(kept + 1);
  await runTurn(followed, 'And again');
  await reader.untilTurn('turn_complete');
  expect([...reader.items.values()]).toHaveLength(2);
  reader.close();
});

test('a closed session with a queued message stays in memory', async () => {
  const { projectDir, runtime } = world;
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  await runtime.send(sessionId, 'first');
  await runtime.send(sessionId, 'second');
  await runtime.kill(sessionId);
  await makeManyClosed();
  expect(await inMemory()).toContain(sessionId);
});
