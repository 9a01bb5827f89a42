/** Counting: each turn once, by the server that writes its end. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Meter, MeteredTurn } from '../src/index.ts';
import { startWorld, type World } from './harness.ts';

let world: World;
let sessionId: string;
const turns: MeteredTurn[] = [];
let appends = 0;

const meter: Meter = {
  turnEnded: (turn) => turns.push(turn),
  approvalEnded: () => {},
  appended: () => (appends += 1),
  appendRefused: () => {},
};

beforeEach(async () => {
  turns.length = 0;
  appends = 0;
  world = await startWorld({}, { meter });
  const { runtime, projectDir } = world;
  sessionId = (await runtime.createSession({ cliType: 'scripted', projectDir })).sessionId;
});
afterEach(async () => world.end());

/** A turn after which the session's total cost is `costUsd`. */
async function play({ runtime, agent }: World, costUsd: number): Promise<string> {
  const { turnId } = await runtime.send(sessionId, 'Hello');
  const counted = turns.length;
  const usage = { inputTokens: 1, outputTokens: 2, costUsd };
  agent.emit(sessionId, { type: 'response_done', status: 'completed', usage });
  await expect.poll(() => turns.length).toBe(counted + 1);
  await expect.poll(async () => (await runtime.status(sessionId)).state).toBe('idle');
  return turnId;
}

test('a turn’s cost is the growth of the session’s total cost, also across restarts; if the total starts at 0 again, it is the whole total', async () => {
  await play(world, 0.5);
  await play(world, 0.75);
  const second = await world.restart('close');
  await play(second, 2);
  await play(second, 0.25);
  expect(turns.map(({ costDollars }) => costDollars)).toEqual([0.5, 0.25, 1.25, 0.25]);
});

test('a turn that a crash has cut off is counted once, by the server that ends it', async () => {
  await world.runtime.send(sessionId, 'Hello');
  await expect.poll(() => appends).toBeGreaterThan(0);
  const second = await world.restart('crash');
  expect(turns).toMatchObject([{ cliType: 'scripted', status: 'error', errorCode: 'OWNER_LOST' }]);
  const third = await second.restart('close');
  expect((await third.runtime.info(sessionId)).session.state).toBe('failed');
  expect(turns).toHaveLength(1);
});

test('a turn that the server’s shutdown cuts off is counted once', async () => {
  await world.runtime.send(sessionId, 'Hello');
  await world.restart('close');
  expect(turns).toMatchObject([{ status: 'error', errorCode: 'SERVER_ENDED' }]);
});
