import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ProviderError } from '@liminal/agents';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { World } from './harness.ts';
import { Reader, startWorld } from './harness.ts';

let world: World;
let sessionId: string;

beforeEach(async () => {
  world = await startWorld();
  sessionId = await create();
});
afterEach(async () => world.end());

async function create(): Promise<string> {
  const made = await world.runtime.createSession({
    cliType: 'scripted',
    projectDir: world.projectDir,
  });
  return made.sessionId;
}

test('a message becomes a turn, which every reader gets with the returned id', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  const { turnId, queued } = await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', 'Hi ', 'there');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  expect(queued).toBe(false);
  expect(reader.ofType('session:turn').map((m) => m.payload.turnId)).toEqual([turnId, turnId]);
  expect([...reader.items.values()].map((item) => [item.type, item.status, item.turnId])).toEqual([
    ['message', 'complete', turnId],
    ['message', 'complete', turnId],
  ]);
});

test('each run has a W3C trace of its own, which all its events carry', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  for (const count of [1, 2]) {
    await world.runtime.send(sessionId, 'Hello');
    // The send may find the previous turn on its way into history, and then queues the message.
    await reader.untilTurn('turn_started', count);
    world.agent.text(sessionId, `a${count}`, 'Hi');
    world.agent.finish(sessionId);
    await reader.untilTurn('turn_complete', count);
  }
  const traces = [...world.medium.acknowledged.values()].map(
    (events) => new Set(events.map(({ traceContext }) => traceContext.traceparent)),
  );
  expect(traces.map(({ size }) => size)).toEqual([1, 1]);
  const [first, second] = traces.flatMap((trace) => [...trace]);
  // https://www.w3.org/TR/trace-context/#traceparent-header: ids of only zeros are not valid.
  const traceparent = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-01$/;
  expect([first, second]).toEqual([
    expect.stringMatching(traceparent),
    expect.stringMatching(traceparent),
  ]);
  expect(first).not.toBe(second);
});

test('messages sent during a turn wait, in order, and can be edited and removed', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  await world.runtime.send(sessionId, 'first');
  const second = await world.runtime.send(sessionId, 'second');
  const third = await world.runtime.send(sessionId, 'third');
  const fourth = await world.runtime.send(sessionId, 'fourth');
  expect([second.queued, third.queued]).toEqual([true, true]);
  await world.runtime.removeQueued(sessionId, second.turnId);
  await world.runtime.editQueued(sessionId, third.turnId, 'third, better');
  expect((await world.runtime.info(sessionId)).queue.map((entry) => entry.message)).toEqual([
    'third, better',
    'fourth',
  ]);
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_started', 2);
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_started', 3);
  expect(world.agent.received).toEqual(['first', 'third, better', 'fourth']);
  await expect(world.runtime.removeQueued(sessionId, fourth.turnId)).rejects.toMatchObject({
    code: 'MESSAGE_NOT_QUEUED',
  });
});

test('SAFE: a message that begins with “!” is text, unless its sender requests a command', async () => {
  const { runtime, agent } = world;
  const done = async () => {
    agent.finish(sessionId);
    await expect.poll(async () => (await runtime.status(sessionId)).state).toBe('idle');
  };
  await runtime.send(sessionId, '!rm -rf .');
  const queued = await runtime.send(sessionId, 'Wait.');
  await runtime.editQueued(sessionId, queued.turnId, '!rm -rf .');
  agent.finish(sessionId);
  await expect.poll(() => agent.received.length).toBe(2);
  await done();
  await runtime.send(sessionId, '!ls', undefined, { runCommand: true });
  const second = await runtime.send(sessionId, 'Wait.');
  await runtime.editQueued(sessionId, second.turnId, '!pwd', { runCommand: true });
  agent.finish(sessionId);
  await expect.poll(() => agent.received.length).toBe(4);
  await done();
  expect(agent.received).toEqual([' !rm -rf .', ' !rm -rf .', '!ls', '!pwd']);
});

test('a message is sent once, even if its request is repeated at any time', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  const [first, second] = [randomUUID(), randomUUID()];
  const send = async (message: string, turnId: string) =>
    world.runtime.send(sessionId, message, turnId);
  await Promise.all([send('first', first), send('first', first)]);
  await send('second', second);
  expect(await send('second', second)).toEqual({ turnId: second, queued: true });
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_started', 2);
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete', 2);
  expect(await send('first', first)).toEqual({ turnId: first, queued: false });
  expect(await send('second', second)).toEqual({ turnId: second, queued: false });
  expect(world.agent.received).toEqual(['first', 'second']);
  await expect(world.runtime.send(await create(), 'first', first)).rejects.toMatchObject({
    code: 'TURN_ID_TAKEN',
  });
});

test('a message that the agent rejects fails with its code and leaves nothing behind', async () => {
  world.agent.refuse = new ProviderError('PROCESS_CRASH', 'It died.');
  await expect(world.runtime.send(sessionId, 'Hello')).rejects.toMatchObject({
    code: 'PROCESS_CRASH',
  });
  expect((await world.runtime.info(sessionId)).queue).toEqual([]);
  await world.runtime.send(sessionId, 'Again');
  expect(world.agent.received).toEqual(['Again']);
});

test('a queued message that cannot be sent stays in the queue, and is sent with the next message', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  await world.runtime.send(sessionId, 'first');
  await world.runtime.send(sessionId, 'second');
  world.agent.refuse = new ProviderError('PROCESS_CRASH', 'It died.');
  world.agent.finish(sessionId);
  await reader.untilType('session:error');
  expect(reader.ofType('session:error')[0]).toMatchObject({ code: 'PROCESS_CRASH' });
  const [held] = (await world.runtime.info(sessionId)).queue;
  expect(held).toMatchObject({ message: 'second', state: 'queued' });
  await world.runtime.send(sessionId, 'third');
  await reader.untilTurn('turn_started', 2);
  expect(world.agent.received).toEqual(['first', 'second']);
});

test('NFR-000-05: a crash ends the turn as an error and keeps its messages, and the next message restarts the agent', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', 'I was about to');
  world.agent.crash(sessionId);
  await reader.untilTurn('turn_error');
  expect(reader.ofType('session:turn').at(-1)?.payload).toMatchObject({
    errorCode: 'PROCESS_CRASH',
  });
  expect(reader.items.get('a')).toMatchObject({ content: 'I was about to', status: 'error' });
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.state === 'failed');
  await world.runtime.send(sessionId, 'Go on');
  expect(world.agent.loads).toEqual([sessionId]);
});

test('cancel records the user’s stop, and ends the turn as cancelled', async () => {
  const { turnId } = await world.runtime.send(sessionId, 'Hello');
  const reader = new Reader(world.runtime, sessionId);
  await reader.untilType('session:info');
  world.agent.text(sessionId, 'a', 'One');
  await world.runtime.cancel(sessionId);
  await reader.untilTurn('turn_complete');
  expect(reader.ofType('session:turn').at(-1)?.payload).toMatchObject({
    status: 'cancelled',
    turnId,
  });
  expect(reader.items.get('a')).toMatchObject({ content: 'One', status: 'complete' });
  await world.runtime.cancel(sessionId);
  expect(world.agent.cancels).toHaveLength(1);
  // The stop is recorded once, although the agent reports it as well.
  const types = world.medium.acknowledged.get(turnId)?.map(({ type }) => type) ?? [];
  expect(types.filter((type) => type === 'turn_aborted_by_user')).toHaveLength(1);
});

test('cancelling an agent that cannot be interrupted is rejected with its code; the turn continues, and can be cancelled again', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  await world.runtime.send(sessionId, 'Hello');
  const failure = new ProviderError('INTERRUPT_FAILED', 'It does not listen.');
  vi.spyOn(world.agent, 'cancel').mockRejectedValueOnce(failure);
  await expect(world.runtime.cancel(sessionId)).rejects.toThrow(failure);
  expect((await world.runtime.info(sessionId)).session).toMatchObject({
    state: 'running',
    isAlive: true,
  });
  world.agent.text(sessionId, 'a', 'Still talking');
  await world.runtime.cancel(sessionId);
  await reader.untilTurn('turn_complete');
  expect(reader.ofType('session:turn').at(-1)?.payload).toMatchObject({ status: 'cancelled' });
  expect(reader.items.get('a')).toMatchObject({ content: 'Still talking', status: 'complete' });
});

test('a stop while the message is being sent is not lost', async () => {
  const gate = Promise.withResolvers<void>();
  world.agent.hold = gate.promise;
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  const sending = world.runtime.send(sessionId, 'Hello');
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.queue[0]?.state === 'sending');
  await world.runtime.cancel(sessionId);
  gate.resolve();
  await sending;
  await reader.untilTurn('turn_complete');
  expect(reader.ofType('session:turn').at(-1)?.payload).toMatchObject({ status: 'cancelled' });
});

test('kill ends the agent and a running turn, and removes the session from the active list', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  await world.runtime.send(sessionId, 'Hello');
  await world.runtime.kill(sessionId);
  await reader.untilTurn('turn_complete');
  expect(world.agent.isAlive(sessionId)).toBe(false);
  expect(await world.runtime.listSessions(world.projectDir)).toEqual([]);
  expect((await world.runtime.history(sessionId)).entries).toHaveLength(1);
  await world.runtime.kill(sessionId);
});

test('INV-8 a queued message starts no agent in a killed session, nor in a server that closes', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  await world.runtime.send(sessionId, 'first');
  await world.runtime.send(sessionId, 'second');
  await world.runtime.kill(sessionId);
  await reader.untilTurn('turn_complete');
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.state === 'queued');
  // Lets later work run.
  await new Promise(setImmediate);
  expect([world.agent.received, world.agent.isAlive(sessionId)]).toEqual([['first'], false]);
  await world.runtime.send(sessionId, 'third');
  await reader.untilTurn('turn_started', 2);
  await world.runtime.close();
  await reader.untilTurn('turn_error');
  expect([world.agent.received, world.agent.isAlive(sessionId)]).toEqual([
    ['first', 'third'],
    false,
  ]);
});

test('a permission request is answered once: the first answer wins', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  await world.runtime.send(sessionId, 'Hello');
  world.agent.ask(sessionId, 'p1');
  await reader.until((r) => r.ofType('session:info').at(-1)?.info.session.state === 'waiting');
  const answers = await Promise.allSettled([
    world.runtime.answerApproval(sessionId, 'p1', { optionId: 'yes' }),
    world.runtime.answerApproval(sessionId, 'p1', { optionId: 'no' }),
  ]);
  expect(answers.map((answer) => answer.status)).toEqual(['fulfilled', 'rejected']);
  expect(world.agent.answers).toEqual([{ optionId: 'yes' }]);
  expect(answers[1]).toMatchObject({ reason: { code: 'APPROVAL_ALREADY_ANSWERED' } });
  await reader.until((r) => r.items.get('p1')?.status === 'complete');
  await expect(
    world.runtime.answerApproval(sessionId, 'p9', { optionId: 'yes' }),
  ).rejects.toMatchObject({
    code: 'APPROVAL_NOT_FOUND',
  });
});

/** The activity and notices that readers get. */
const activityAndNotices = (reader: Reader) => {
  const { notices, activity } = reader.ofType('session:info').at(-1)?.info ?? {};
  return { ...(notices && { notices }), ...(activity !== undefined && { activity }) };
};

test('an agent’s activity is shown until its turn or process ends, and its notices stay', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  const activity = 'The model is overloaded. Trying again in 5 s.';
  const notices = [{ level: 'warning', text: 'This folder is not trusted.' } as const];
  const told = (expected: object) =>
    reader.until((r) => isDeepStrictEqual(activityAndNotices(r), expected));
  await world.runtime.send(sessionId, 'Hello');
  world.agent.update(sessionId, { activity, notices });
  await told({ activity, notices });
  world.agent.update(sessionId, { notices });
  expect(world.warnings).toEqual(['This folder is not trusted.']);
  world.agent.update(sessionId, { activity: '' });
  await told({ notices });
  world.agent.update(sessionId, { activity });
  await told({ activity, notices });
  world.agent.finish(sessionId);
  await told({ notices });
  await world.runtime.send(sessionId, 'Once more');
  world.agent.update(sessionId, { activity });
  await told({ activity, notices });
  world.agent.crash(sessionId);
  await told({ notices });
  world.agent.update(sessionId, { notices: [] });
  await told({});
});

test('a turn that the agent begins by itself is a separate turn', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  world.agent.emit(
    sessionId,
    { type: 'response_start', modelId: 'm', providerId: 'scripted', trigger: 'agent' },
    'turn-of-its-own',
  );
  world.agent.text(sessionId, 'a', 'The build is done.');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  const page = await world.runtime.history(sessionId);
  expect(page.turns).toMatchObject([
    { turnId: 'turn-of-its-own', trigger: 'agent', status: 'complete' },
  ]);
});

test('an agent that loads a session can check whether the session had an answer', async () => {
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  world.agent.crash(sessionId);
  await world.runtime.send(sessionId, 'Hello');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  world.agent.crash(sessionId);
  await world.runtime.send(sessionId, 'And now?');
  await reader.untilTurn('turn_started', 2);
  expect(world.agent.histories).toEqual([false, true]);
});

test('an unknown session, agent or folder is rejected with its code', async () => {
  const { runtime, projectDir } = world;
  await expect(runtime.send('nope', 'x')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  await expect(runtime.loadSession('nope')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  await expect(runtime.createSession({ cliType: 'gemini', projectDir })).rejects.toMatchObject({
    code: 'UNSUPPORTED_CLI_TYPE',
  });
  await expect(
    runtime.createSession({ cliType: 'scripted', projectDir: `${projectDir}/none` }),
  ).rejects.toMatchObject({ code: 'PROJECT_DIR_NOT_FOUND' });
  await expect(
    runtime.createSession({ cliType: 'scripted', projectDir: '/' }),
  ).rejects.toMatchObject({ code: 'PROJECT_DIR_NOT_ALLOWED' });
});

test('a session from the agent’s own store is listed, and opened with its history', async () => {
  const time = new Date().toISOString();
  const { projectDir } = world;
  world.agent.stored = [
    { sessionId: 'old', projectDir, title: 'Before Liminal', createdAt: time, updatedAt: time },
  ];
  world.agent.storedTurns = [
    {
      turnId: 't1',
      events: [
        { type: 'response_start' as const, modelId: 'm', providerId: 'scripted' },
        {
          type: 'item_done' as const,
          itemId: 'i1',
          finalItem: {
            type: 'message' as const,
            id: 'i1',
            content: 'Hi',
            origin: 'agent' as const,
          },
        },
        { type: 'response_done' as const, status: 'completed' as const },
      ].map((payload) => ({ turnId: 't1', timestamp: time, payload })),
    },
  ];
  const fresh = await world.restart();
  fresh.agent.stored = world.agent.stored;
  fresh.agent.storedTurns = world.agent.storedTurns;
  const [project] = await fresh.runtime.listProjects();
  expect(project?.sessions.find((s) => s.sessionId === 'old')).toMatchObject({ source: 'agent' });
  await fresh.runtime.loadSession('old');
  const page = await fresh.runtime.history('old');
  expect(page.entries).toMatchObject([{ type: 'message', content: 'Hi', turnId: 't1' }]);
  expect(fresh.agent.loads).toEqual([]);
  const [after] = await fresh.runtime.listProjects();
  expect(after?.sessions.filter((s) => s.sessionId === 'old')).toMatchObject([
    { source: 'liminal' },
  ]);
});
