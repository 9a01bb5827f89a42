/** Turns that a notification ends from outside. */
import { afterEach, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';

let world: World;
afterEach(async () => world.end());

async function start(): Promise<{ sessionId: string; reader: Reader }> {
  world = await startWorld();
  const { runtime, projectDir } = world;
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  const reader = await new Reader(runtime, sessionId).untilType('session:info');
  return { sessionId, reader };
}

test('FR-039-06: a notification ends a waiting turn at once, as complete, with its messages; the next message has a turn of its own', async () => {
  const { sessionId, reader } = await start();
  const { runtime, agent } = world;
  const { turnId } = await runtime.send(sessionId, 'Hello');
  agent.emit(sessionId, {
    type: 'item_start',
    itemId: 'a',
    itemType: 'message',
    origin: 'agent',
    initialContent: 'All done',
  });
  const next = await runtime.send(sessionId, 'And now?');
  expect(next.queued).toBe(true);

  expect(await runtime.notify(sessionId)).toEqual({ turnId });

  const run = await runtime.getRun(turnId);
  expect(run).toMatchObject({ status: 'complete', finishReason: 'notified' });
  expect(run.outputItems).toMatchObject([
    { content: 'Hello' },
    { content: 'All done', origin: 'agent' },
    { content: expect.stringContaining('ended from outside'), origin: 'system' },
  ]);
  // Later events of the ended turn are dropped; the queued message begins a turn of a restarted agent.
  await reader.until(({ items }) =>
    [...items.values()].some((item) => 'content' in item && item.content === 'And now?'),
  );
  expect(agent.loads).toEqual([sessionId]);
  expect((await runtime.info(sessionId)).session.state).toBe('running');
  agent.finish(sessionId);
  await reader.untilTurn('turn_complete', 2);
});

test('a turn that waits for a user is also ended: its question is withdrawn', async () => {
  const { sessionId, reader } = await start();
  const { turnId } = await world.runtime.send(sessionId, 'Hello');
  world.agent.ask(sessionId, 'p1');
  await reader.until(({ items }) => items.has('p1'));
  await world.runtime.notify(sessionId, { turnId });
  const { outputItems, status } = await world.runtime.getRun(turnId);
  expect(status).toBe('complete');
  expect(outputItems).toContainEqual(
    expect.objectContaining({
      type: 'approval',
      outcome: { outcome: 'cancelled', reason: 'turn_ended' },
    }),
  );
  await expect.poll(async () => (await world.runtime.info(sessionId)).session.state).toBe('idle');
});

test('nothing is ended if no turn runs, or if the id is another turn’s', async () => {
  const { sessionId } = await start();
  const { runtime, agent } = world;
  const nothing = { code: 'NOTHING_TO_END' };
  await expect(runtime.notify(sessionId)).rejects.toMatchObject(nothing);
  await expect(runtime.notify('nobody')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  const { turnId } = await runtime.send(sessionId, 'Hello');
  for (const which of [{ turnId: 'earlier' }, { agentTurnId: 'earlier' }]) {
    await expect(runtime.notify(sessionId, which)).rejects.toMatchObject({
      ...nothing,
      message: 'The running turn is not earlier, which may have ended by itself.',
    });
  }
  expect((await runtime.info(sessionId)).session.state).toBe('running');
  agent.finish(sessionId);
  await expect.poll(async () => (await runtime.getRun(turnId)).finishReason).toBe('end_turn');
  await expect(runtime.notify(sessionId, { turnId })).rejects.toMatchObject(nothing);
});

test('an agent whose own program notifies can still end its turn itself', async () => {
  const { sessionId } = await start();
  const { runtime, agent } = world;
  const { turnId } = await runtime.send(sessionId, 'Hello');
  agent.agentTurn = () => {
    // `notify` is called now; the agent's own report follows a moment later.
    setImmediate(() => {
      agent.text(sessionId, 'a', 'The last words.');
      agent.finish(sessionId);
    });
    return 'native';
  };
  const notified = runtime.notify(sessionId, { agentTurnId: 'native' });
  await expect(notified).rejects.toMatchObject({ code: 'NOTHING_TO_END' });
  const { finishReason, outputItems } = await runtime.getRun(turnId);
  expect(finishReason).toBe('end_turn');
  expect(outputItems.at(-1)).toMatchObject({ content: 'The last words.' });
});

test('the agent’s own ids name the session and its turn', async () => {
  const { sessionId, reader } = await start();
  const { runtime, agent } = world;
  agent.update(sessionId, { agentSessionId: 'thread' });
  const { turnId } = await runtime.send(sessionId, 'Hello');
  agent.agentTurn = () => 'native';
  expect(await runtime.notify('thread', { agentTurnId: 'native' })).toEqual({ turnId });
  await reader.untilTurn('turn_complete');
});
