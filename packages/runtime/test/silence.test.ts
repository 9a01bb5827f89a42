import { ProviderError } from '@liminal/agents';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { RuntimeSettings } from '../src/index.ts';
import type { World } from './harness.ts';
import { Reader, startWorld } from './harness.ts';

let world: World;

afterEach(async () => world.end());

async function start(settings: Partial<RuntimeSettings>): Promise<string> {
  world = await startWorld(settings);
  return create();
}

async function create(): Promise<string> {
  const { projectDir } = world;
  return (await world.runtime.createSession({ cliType: 'scripted', projectDir })).sessionId;
}

/** Returns a promise that rejects when an agent's process is ended. */
function rejectsAtEnd(): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = world.agent.end.bind(world.agent);
  vi.spyOn(world.agent, 'end').mockImplementation((sessionId) => {
    end(sessionId);
    reject(new ProviderError('PROCESS_CRASH', 'Ended.'));
  });
  return promise;
}

async function ready(sessionId: string): Promise<Reader> {
  return new Reader(world.runtime, sessionId).untilType('session:info');
}

test('a turn whose agent is silent for the idle limit ends with IDLE_TIMEOUT, and so does the process', async () => {
  const sessionId = await start({ idleLimitMs: 50 });
  const reader = await ready(sessionId);
  await world.runtime.send(sessionId, 'Hello');
  await reader.untilTurn('turn_error');
  expect(reader.ofType('session:turn').at(-1)?.payload).toMatchObject({
    errorCode: 'IDLE_TIMEOUT',
  });
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.isAlive === false);
  expect(world.agent.isAlive(sessionId)).toBe(false);
});

test('an agent that takes a message and begins no turn is ended, and its next process gets the message', async () => {
  // Long enough for a busy machine to end the second turn within the limit.
  const sessionId = await start({ idleLimitMs: 500 });
  const reader = await ready(sessionId);
  const send = world.agent.take.bind(world.agent);
  const given = vi.spyOn(world.agent, 'take');
  const ended = rejectsAtEnd();
  given.mockImplementationOnce(async () => ended).mockImplementation(send);

  const { turnId } = await world.runtime.send(sessionId, 'Hello');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  expect(given).toHaveBeenCalledTimes(2);
  expect(reader.ofType('session:turn').at(-1)?.payload).toMatchObject({ turnId });
});

test('a stop ends an agent that begins no turn, and the message waits', async () => {
  const sessionId = await start({ idleLimitMs: 0 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const ended = rejectsAtEnd();
  const given = vi.spyOn(world.agent, 'take').mockImplementationOnce(async () => ended);
  const refusal = world.runtime.send(sessionId, 'Hello').catch((error: unknown) => error);
  await expect.poll(() => given.mock.calls.length).toBe(1);

  await world.runtime.cancel(sessionId);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await refusal).toMatchObject({ code: 'PROCESS_CRASH' });
  expect(world.agent.isAlive(sessionId)).toBe(false);
  expect(given).toHaveBeenCalledTimes(1);
});

test('silence is allowed while the turn waits for a user', async () => {
  // Long enough for a busy machine to ask within the limit; ten heartbeats last twice as long.
  const sessionId = await start({ idleLimitMs: 500, heartbeatMs: 100 });
  const { turnId } = await world.runtime.send(sessionId, 'Hello');
  world.agent.ask(sessionId, 'p1');
  const signal = AbortSignal.timeout(20_000);
  const feed = await world.runtime.followRun(turnId, { after: -1, signal });
  if (feed.kind === 'snapshot') throw new Error('The run has ended.');
  const types: string[] = [];
  for await (const event of feed.events) {
    types.push(event.type);
    const heartbeats = types.filter((type) => type === 'heartbeat').length;
    if (heartbeats === 10) world.agent.finish(sessionId);
  }
  expect(types.at(-1)).toBe('response_done');
});

test('an unanswered permission request is answered by the policy at its deadline', async () => {
  const sessionId = await start({ approvals: { deadlineMs: 50, fallback: 'reject' } });
  const reader = await ready(sessionId);
  await world.runtime.send(sessionId, 'Hello');
  world.agent.ask(sessionId, 'p1');
  await reader.until((r) => r.items.get('p1')?.status === 'complete');
  const asked = reader.ofType('session:upsert').find((m) => m.payload.itemId === 'p1')?.payload;
  expect(asked?.type === 'approval' && Date.parse(asked.deadline ?? '')).toBeGreaterThan(0);
  expect(world.agent.answers).toEqual([{ optionId: 'no' }]);
});

test('SAFE: if a request offers no refusal, the policy stops the turn, and grants nothing', async () => {
  const sessionId = await start({ approvals: { deadlineMs: 50, fallback: 'reject' } });
  const reader = await ready(sessionId);
  await world.runtime.send(sessionId, 'Hello');
  world.agent.ask(sessionId, 'p1', [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    { optionId: 'ever', name: 'Always allow', kind: 'allow_always' },
  ]);
  await reader.untilTurn('turn_complete');
  expect(reader.items.get('p1')).toMatchObject({ outcome: { outcome: 'cancelled' } });
  expect(world.agent.answers).toEqual([]);
});

test('beyond the limit of idle agents, the agent that was idle longest ends', async () => {
  const first = await start({ maxIdleProcesses: 1 });
  const reader = await ready(first);
  const second = await create();
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.isAlive === false);
  expect([world.agent.isAlive(first), world.agent.isAlive(second)]).toEqual([false, true]);
  await world.runtime.send(first, 'Still there?');
  expect(world.agent.received).toEqual(['Still there?']);
});

test('an agent with background tasks does not count as idle', async () => {
  const first = await start({ maxIdleProcesses: 1 });
  const startedAt = '2026-01-01T00:00:00.000Z';
  const task = { taskId: 'a', title: 'npm run dev', kind: 'command', startedAt } as const;
  world.agent.update(first, { tasks: [task] });
  const second = await create();
  const reader = await ready(second);
  await create();
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.isAlive === false);
  expect([world.agent.isAlive(first), world.agent.isAlive(second)]).toEqual([true, false]);
});

test('sessions and messages beyond their limits are rejected', async () => {
  const sessionId = await start({ maxSessions: 1, maxQueue: 1 });
  await expect(create()).rejects.toMatchObject({ code: 'TOO_MANY_SESSIONS' });
  await world.runtime.send(sessionId, 'one');
  await world.runtime.send(sessionId, 'two');
  await expect(world.runtime.send(sessionId, 'three')).rejects.toMatchObject({
    code: 'QUEUE_FULL',
  });
});
