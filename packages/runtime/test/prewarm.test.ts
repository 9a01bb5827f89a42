import { ProviderError } from '@liminal/agents';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { World } from './harness.ts';
import { Reader, startWorld } from './harness.ts';

let world: World;
let sessionId: string;

beforeEach(async () => {
  world = await startWorld();
  Object.assign(world.agent, { prewarms: true });
  sessionId = await create();
});
afterEach(async () => world.end());

async function create(): Promise<string> {
  const { projectDir } = world;
  return (await world.runtime.createSession({ cliType: 'scripted', projectDir })).sessionId;
}

async function untilAlive(id: string): Promise<void> {
  const reader = new Reader(world.runtime, id);
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.isAlive === true);
  reader.close();
}

test('prewarm starts an agent before the message, once', async () => {
  world.agent.crash(sessionId);
  await world.runtime.prewarm(sessionId);
  await untilAlive(sessionId);
  await world.runtime.prewarm(sessionId);
  await world.runtime.send(sessionId, 'Hello');
  expect(world.agent.loads).toEqual([sessionId]);
});

test('an agent that does not start faster when prewarmed is not prewarmed', async () => {
  Object.assign(world.agent, { prewarms: false });
  world.agent.crash(sessionId);
  await world.runtime.prewarm(sessionId);
  const other = await create();
  await world.runtime.send(other, 'Hello');
  expect(world.agent.loads).toEqual([]);
});

test('a failed prewarm is logged, and the agent is started again for the message', async () => {
  world.agent.crash(sessionId);
  const tried = Promise.withResolvers<void>();
  vi.spyOn(world.agent, 'open').mockImplementationOnce(async () => {
    tried.resolve();
    throw new ProviderError('PROCESS_CRASH', 'It died.');
  });
  await world.runtime.prewarm(sessionId);
  await tried.promise;
  await world.runtime.send(sessionId, 'Hello');
  expect(world.agent.received).toEqual(['Hello']);
  expect(world.warnings).toContain('the agent could not be started in advance');
});

test('opening a session restarts an agent that was ended for a turn made outside', async () => {
  await world.runtime.send(sessionId, 'Hello');
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  world.agent.mark = 'grown';
  world.agent.storedTurns = [storedTurn('outside')];
  await world.runtime.loadSession(sessionId);
  await untilAlive(sessionId);
  expect(world.agent.loads).toEqual([sessionId]);
  const { entries } = await world.runtime.history(sessionId);
  expect(entries.at(-1)).toMatchObject({ turnId: 'outside', content: 'Said in a terminal' });
});

test('opening a session starts no agent if none was running', async () => {
  const other = await create();
  world.agent.crash(sessionId);
  world.agent.crash(other);
  await world.runtime.loadSession(sessionId);
  // If the first session's agent were started, its start would come before this one.
  await world.runtime.prewarm(other);
  await untilAlive(other);
  expect(world.agent.loads).toEqual([other]);
});

function storedTurn(turnId: string) {
  const item = {
    type: 'message',
    id: 'i',
    content: 'Said in a terminal',
    origin: 'agent',
  } as const;
  const payloads = [
    { type: 'response_start', modelId: 'm', providerId: 'scripted' },
    { type: 'item_done', itemId: 'i', finalItem: item },
    { type: 'response_done', status: 'completed' },
  ] as const;
  const timestamp = new Date().toISOString();
  return { turnId, events: payloads.map((payload) => ({ turnId, timestamp, payload })) };
}
