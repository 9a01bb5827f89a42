/** The orderly shutdown of a server: which turns reach their end, and how the others end. */
import { type CommandName, commands } from '@liminal/protocol';
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

const names = Object.keys(commands) as CommandName[];
const never = () => new AbortController().signal;
const refused = { code: 'SHUTTING_DOWN', message: expect.stringMatching(/Try again/) };

test('a server that shuts down lets the running turn end by itself, and begins no turn: queued messages stay queued', async () => {
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
  // This message was sent before; the same request is accepted again, because its answer may have been lost.
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

test('a turn that a shutdown cuts off ends with SERVER_ENDED and keeps its messages; a turn that a user stops ends as cancelled', async () => {
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
  'a session whose turn was cut off by the server (%s) is interrupted until its next turn; after a user’s stop it is not',
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

test('a server that shuts down refuses each command that begins something, and after its end each that changes more than what runs', async () => {
  const { runtime } = world;
  const begins = ['prewarm', 'resumeQueue', 'rewind', 'mcpServers', 'changeMcpServer'];
  begins.push('aside', 'setup', 'changeDirectories');
  const changes = ['loadSession', 'send', 'steer', 'fork', 'archive', 'unarchive', 'pin', 'unpin'];
  changes.push('deleteSession');
  const refusedNow = async (): Promise<string[]> => {
    const codes = names.map(async (name) => {
      const command = runtime[name] as (...args: unknown[]) => Promise<unknown>;
      const code = await command.call(runtime, 'unknown', 'x').catch((error: unknown) => error);
      expect(code).toMatchObject({ code: expect.stringMatching(/SHUTTING_DOWN|_NOT_FOUND/) });
      return (code as { code: string }).code;
    });
    return (await Promise.all(codes)).flatMap((code, at) =>
      code === 'SHUTTING_DOWN' ? names[at]! : [],
    );
  };
  expect(await refusedNow()).toEqual([]);
  await runtime.finish(never());
  expect((await refusedNow()).toSorted()).toEqual(begins.toSorted());
  await runtime.close();
  expect((await refusedNow()).toSorted()).toEqual([...begins, ...changes].toSorted());
});

test('finish resolves at once if no turn runs', async () => {
  expect(await world.runtime.finish(never())).toBeUndefined();
});

test('a server reports that it is ready, and the reason during its shutdown', async () => {
  expect(await world.runtime.troubles()).toEqual([]);
  await world.runtime.finish(never());
  expect(await world.runtime.troubles()).toEqual(['The server is shutting down.']);
});
