/** A session that another program has open, such as a terminal. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { World } from './harness.ts';
import { Reader, startWorld } from './harness.ts';

let world: World;
let sessionId: string;

beforeEach(async () => {
  world = await startWorld();
  const made = await world.runtime.createSession({
    cliType: 'scripted',
    projectDir: world.projectDir,
  });
  sessionId = made.sessionId;
  await world.runtime.kill(sessionId);
});
afterEach(async () => world.end());

test('a message waits until the other program has left, with a notice, and is sent once', async () => {
  world.agent.inUse = 2;
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  const { turnId, queued } = await world.runtime.send(sessionId, 'Hello');
  expect(queued).toBe(true);
  expect(await world.runtime.info(sessionId)).toMatchObject({
    queue: [{ turnId, message: 'Hello', state: 'queued' }],
    notices: [
      {
        level: 'info',
        text: 'A terminal has it open. Your message is sent as soon as the session is free.',
      },
    ],
  });
  expect((await world.runtime.send(sessionId, 'And more')).queued).toBe(true);
  await reader.untilTurn('turn_started');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  await reader.untilTurn('turn_started', 2);
  expect(world.agent.received).toEqual(['Hello', 'And more']);
  const { notices = [], session } = await world.runtime.info(sessionId);
  expect(notices).toEqual([]);
  expect(session.state).toBe('running');
});

test('removing the message also removes the notice', async () => {
  world.agent.inUse = 100;
  const { turnId } = await world.runtime.send(sessionId, 'Hello');
  await world.runtime.removeQueued(sessionId, turnId);
  const { notices = [], queue } = await world.runtime.info(sessionId);
  expect([queue, notices]).toEqual([[], []]);
});
