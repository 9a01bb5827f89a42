/** The orderly end of a server: which turns come to their end, and what the others say of theirs. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';

let world: World;
let sessionId: string;
let reader: Reader;

beforeEach(async () => {
  world = await startWorld();
  sessionId = await newSession();
  reader = await new Reader(world.runtime, sessionId).untilType('session:info');
});
afterEach(async () => world.end());

async function newSession(): Promise<string> {
  const { runtime, projectDir } = world;
  return (await runtime.createSession({ cliType: 'scripted', projectDir })).sessionId;
}

const never = () => new AbortController().signal;
const refused = { code: 'SHUTTING_DOWN', message: expect.stringMatching(/Try again/) };

test('an ending server lets the turn under way end by itself, and begins nothing new: what waits stays in the queue', async () => {
  const { runtime, agent } = world;
  const idle = await newSession();
  const { turnId } = await runtime.send(sessionId, 'Hello');
  const waits = await runtime.send(sessionId, 'Later');
  let isOver = false;
  const finished = runtime.finish(never()).then(() => (isOver = true));

  for (const id of [sessionId, idle]) {
    await expect(runtime.send(id, 'Too late')).rejects.toMatchObject(refused);
  }
  await expect(newSession()).rejects.toMatchObject(refused);
  // It came before, and may have been sent again because its answer was lost.
  expect(await runtime.send(sessionId, 'Hello', turnId)).toEqual({ turnId, queued: false });
  expect(isOver).toBe(false);

  agent.text(sessionId, 'a', 'Done');
  agent.finish(sessionId);
  await finished;
  await reader.untilTurn('turn_complete');
  const second = await world.restart('close');
  expect(await second.runtime.getRun(turnId)).toMatchObject({
    status: 'complete',
    outputItems: [{ content: 'Hello' }, { content: 'Done' }],
  });
  expect((await second.runtime.info(sessionId)).queue).toMatchObject([
    { turnId: waits.turnId, state: 'queued' },
  ]);
});

test('a turn that its server’s end cuts off ends as an error that says so, with what was said; one that a person stops as cancelled', async () => {
  const { runtime, agent } = world;
  const stopped = await newSession();
  const cut = await runtime.send(sessionId, 'Hello');
  const cancelled = await runtime.send(stopped, 'Hello');
  agent.text(sessionId, 'a', 'Half of');
  const hurry = new AbortController();
  const finished = runtime.finish(hurry.signal);
  await runtime.cancel(stopped);
  hurry.abort();
  await finished;
  const second = await world.restart('close');
  await reader.untilTurn('turn_error');
  expect(reader.ofType('session:turn').at(-1)?.payload).toMatchObject({
    errorCode: 'SERVER_ENDED',
    errorMessage: expect.stringMatching(/server stopped .* send a message to continue/),
  });
  expect(await second.runtime.getRun(cut.turnId)).toMatchObject({
    status: 'error',
    error: { code: 'SERVER_ENDED' },
    outputItems: [{ content: 'Hello' }, { content: 'Half of' }],
  });
  expect(await second.runtime.getRun(cancelled.turnId)).toMatchObject({ status: 'aborted' });
});

test.each(['crash', 'close'] as const)(
  'a session whose turn the end of the server cut off (%s) is interrupted until its next turn; one that a person stopped is not',
  async (how) => {
    const { runtime } = world;
    const stopped = await newSession();
    await runtime.send(sessionId, 'Hello');
    await runtime.send(stopped, 'Hello');
    await runtime.cancel(stopped);
    const second = await world.restart(how);
    const session = async (id: string) => (await second.runtime.info(id)).session;
    expect(await session(sessionId)).toMatchObject({ interrupted: true });
    expect((await session(stopped)).interrupted).toBeUndefined();
    await second.runtime.send(sessionId, 'Continue.');
    expect((await session(sessionId)).interrupted).toBeUndefined();
    second.agent.finish(sessionId);
    await expect.poll(async () => session(sessionId)).toMatchObject({ state: 'idle' });
    expect((await session(sessionId)).interrupted).toBeUndefined();
  },
);

test('a server in which nothing runs is finished at once', async () => {
  expect(await world.runtime.finish(never())).toBeUndefined();
});

test('a server says that it is ready, and why it is not while it ends', async () => {
  expect(await world.runtime.troubles()).toEqual([]);
  await world.runtime.finish(never());
  expect(await world.runtime.troubles()).toEqual(['The server is shutting down.']);
});
