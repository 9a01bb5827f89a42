import { afterEach, beforeEach, expect, test } from 'vitest';
import type { World } from './harness.ts';
import { startWorld } from './harness.ts';

let world: World;

beforeEach(async () => {
  world = await startWorld();
});
afterEach(async () => world.end());

/** Runs a turn of this many tool calls, with two readers; returns the CPU time in ms. */
async function turnOf(calls: number): Promise<number> {
  const { runtime, agent, projectDir } = world;
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  const settled = Promise.withResolvers<void>();
  for (const deltas of [true, false]) {
    let hasEnded = false;
    runtime.subscribe(
      sessionId,
      { deltas },
      {
        send: (outgoing) => {
          outgoing.json();
          const { message } = outgoing;
          hasEnded ||= message.type === 'session:turn' && message.payload.type === 'turn_complete';
          const isIdle = message.type === 'session:info' && message.info.session.state === 'idle';
          if (hasEnded && isIdle) settled.resolve();
          return true;
        },
      },
    );
  }
  const before = process.cpuUsage();
  await runtime.send(sessionId, 'Go');
  for (let index = 0; index < calls; index++) {
    agent.call(sessionId, `tool-${index}`);
    // Waits until the calls so far are in the log and readers have them.
    if (index % 10 === 0) await new Promise(setImmediate);
  }
  agent.finish(sessionId);
  await settled.promise;
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

test('the CPU time of a turn of 3,000 tool calls is proportional to that of a turn of 300', async () => {
  await turnOf(300);
  const small = Math.min(await turnOf(300), await turnOf(300));
  expect((await turnOf(3_000)) / small).toBeLessThan(40);
});
