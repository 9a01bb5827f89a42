import { randomUUID } from 'node:crypto';
import { agentErrors, ProviderError } from '@liminal/agents';
import type { ContentBlock } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { World } from './harness.ts';
import { Reader, startWorld } from './harness.ts';

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image: ContentBlock = { type: 'image', mimeType: 'image/png', data: pixel };

let world: World;
let sessionId: string;
let reader: Reader;

beforeEach(async () => {
  world = await startWorld();
  sessionId = await create();
  reader = await new Reader(world.runtime, sessionId).untilType('session:info');
});
afterEach(async () => world.end());

async function create(): Promise<string> {
  const { projectDir } = world;
  return (await world.runtime.createSession({ cliType: 'scripted', projectDir })).sessionId;
}

/** Steered messages as readers see them. */
const seen = (from = reader) =>
  [...from.items.values()].flatMap((item) =>
    item.type === 'message' && item.delivery !== undefined
      ? [[item.turnId, item.content, item.delivery, item.status]]
      : [],
  );

const queue = async () =>
  (await world.runtime.info(sessionId)).queue.map(({ message, state }) => [message, state]);

const begin = async () => (await world.runtime.send(sessionId, 'Go.')).turnId;

describe('a steered message', () => {
  test('is shown in its turn as sent, then as taken, to readers and in history', async () => {
    const turnId = await begin();
    const messageId = randomUUID();

    const steered = await world.runtime.steer(sessionId, 'A word.', messageId, { blocks: [image] });

    expect(steered).toEqual({ turnId });
    await reader.until(() => seen().length > 0);
    expect(seen()).toEqual([[turnId, 'A word.', 'sent', 'create']]);
    world.agent.takeUp(sessionId, messageId, 'A word.');
    world.agent.finish(sessionId);
    await reader.untilTurn('turn_complete');
    expect(seen()).toEqual([[turnId, 'A word.', 'taken', 'complete']]);
    const { entries } = await world.runtime.history(sessionId);
    expect(entries.map((one) => 'delivery' in one && [one.content, one.delivery])).toEqual([
      false,
      ['A word.', 'taken'],
    ]);
    expect(JSON.stringify([...world.medium.acknowledged.values()])).not.toContain(pixel);
  });

  test('is steered once, even if its request is repeated', async () => {
    const turnId = await begin();
    const messageId = randomUUID();
    const steer = async () => world.runtime.steer(sessionId, 'A word.', messageId);
    expect(await Promise.all([steer(), steer()])).toEqual([{ turnId }, { turnId }]);
    expect(await steer()).toEqual({ turnId });
    expect(world.agent.steered).toEqual(['A word.']);
  });

  test('INV-1 is not steered again if its own turn begins while its repeated request searches for it', async () => {
    const turnId = await begin();
    const messageId = randomUUID();
    const { store } = world.storage;
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { readItems } = store;
    vi.spyOn(store, 'readItems').mockImplementationOnce(async (...wanted) => {
      const page = await readItems.apply(store, wanted);
      asked.resolve();
      await held.promise;
      return page;
    });
    const late = world.runtime.steer(sessionId, 'A word.', messageId);
    await asked.promise;
    expect(await world.runtime.steer(sessionId, 'A word.', messageId)).toEqual({ turnId });
    world.agent.leaveOver(sessionId, messageId);
    await reader.untilTurn('turn_complete');
    await world.agent.comeTo(sessionId, messageId, 'A word.');
    await reader.untilTurn('turn_started', 2);

    held.resolve();
    expect(await late).toEqual({ turnId: messageId });
    expect(world.agent.steered).toEqual(['A word.']);
  });

  test('is not steered again after its turn, in the next turn, or after a crash', async () => {
    const turnId = await begin();
    const messageId = randomUUID();
    let { runtime } = world;
    const steer = async () => runtime.steer(sessionId, 'A word.', messageId);
    await steer();
    world.agent.takeUp(sessionId, messageId, 'A word.');
    world.agent.finish(sessionId);
    expect(await steer()).toEqual({ turnId });
    await reader.untilTurn('turn_complete');
    expect(await steer()).toEqual({ turnId });
    await begin();
    expect(await steer()).toEqual({ turnId });
    const next = await world.restart('crash');
    ({ runtime } = next);
    expect(await steer()).toEqual({ turnId });
    await runtime.send(sessionId, 'Go on.');
    expect(await steer()).toEqual({ turnId });
    expect([world.agent.steered, next.agent.steered]).toEqual([['A word.'], []]);
  });

  test('that the agent rejects can be sent again', async () => {
    await begin();
    const messageId = randomUUID();
    world.agent.beforeSteer = async () => {
      throw new ProviderError('PROCESS_CRASH', 'It died.');
    };
    const steer = async () => world.runtime.steer(sessionId, 'A word.', messageId);
    await expect(steer()).rejects.toMatchObject({ code: 'PROCESS_CRASH' });
    world.agent.beforeSteer = async () => {};
    await steer();
    expect(world.agent.steered).toEqual(['A word.']);
  });

  test('is rejected with advice if no turn runs, or if the agent does not support steering', async () => {
    const steer = async (to = sessionId) => world.runtime.steer(to, 'A word.');
    const nothingRuns = {
      code: 'NOTHING_TO_STEER',
      message: expect.stringContaining('Send the text as'),
    };
    await expect(steer()).rejects.toMatchObject(nothingRuns);
    await begin();
    world.agent.finish(sessionId);
    await expect(steer()).rejects.toMatchObject(nothingRuns);
    expect((await world.runtime.info(sessionId)).canSteer).toBe(true);

    world.agent.canSteer = false;
    const other = await create();
    await world.runtime.send(other, 'Go.');
    expect((await world.runtime.info(other)).canSteer).toBe(false);
    await expect(steer(other)).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: expect.stringContaining('Send a message for a new turn.'),
    });
    await expect(
      world.runtime.steer(other, '', undefined, {
        blocks: [{ type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' }],
      }),
    ).rejects.toMatchObject({ code: 'CONTENT_NOT_SUPPORTED' });
  });

  test('that was not taken when the server died is marked as not taken', async () => {
    const turnId = await begin();
    await world.runtime.steer(sessionId, 'A word.');
    const next = await world.restart('crash');
    const again = await new Reader(next.runtime, sessionId).untilType('session:history');
    await again.until(() => seen(again).length > 0);
    expect(seen(again)).toEqual([[turnId, 'A word.', 'not_taken', 'complete']]);
  });
});

describe('a steered message that the agent handles only after the turn', () => {
  let messageId: string;
  beforeEach(async () => {
    await begin();
    messageId = randomUUID();
    await world.runtime.steer(sessionId, 'A word.', messageId, { blocks: [image] });
  });
  const leave = async () => {
    world.agent.leaveOver(sessionId, messageId);
    await reader.untilTurn('turn_complete');
  };

  test('is being sent until its own turn is logged, and is sent once', async () => {
    await leave();
    expect(await queue()).toEqual([['A word.', 'sending']]);
    // The next message also waits, because the earlier message comes first.
    await world.runtime.send(sessionId, 'And more.');
    await world.agent.comeTo(sessionId, messageId, 'A word.');
    await reader.untilTurn('turn_started', 2);
    await expect.poll(queue).toEqual([['And more.', 'queued']]);
    world.agent.finish(sessionId);
    await reader.untilTurn('turn_started', 3);
    expect(world.agent.received).toEqual(['Go.', 'A word.', 'And more.']);
  });

  test('and that was queued before stays in the queue until then', async () => {
    const { turnId } = await world.runtime.send(sessionId, 'Two.');
    const { append } = world.storage.log;
    const { promise, resolve } = Promise.withResolvers<void>();
    vi.spyOn(world.storage.log, 'append').mockImplementation(async (...events) => {
      await promise;
      return append.apply(world.storage.log, events);
    });
    const sent = world.runtime.sendQueuedNow(sessionId, turnId);
    await expect.poll(() => world.agent.steered).toEqual(['A word.', 'Two.']);
    world.agent.leaveOver(sessionId, turnId);
    resolve();
    expect(await sent).toMatchObject({ steered: true });
    await reader.untilTurn('turn_complete');
    expect(await queue()).toEqual([['Two.', 'sending']]);
  });

  test('is not sent again before, during, or after its own turn', async () => {
    const steer = async () => world.runtime.steer(sessionId, 'A word.', messageId);
    const its = { turnId: messageId };
    await leave();
    expect(await steer()).toEqual(its);
    await world.agent.comeTo(sessionId, messageId, 'A word.');
    await reader.untilTurn('turn_started', 2);
    expect(await steer()).toEqual(its);
    world.agent.finish(sessionId);
    await reader.untilTurn('turn_complete', 2);
    await begin();
    expect(await steer()).toEqual(its);
    expect(world.agent.steered).toEqual(['A word.']);
  });

  test('is stopped as its turn begins, if the stop came before', async () => {
    await leave();
    await world.runtime.cancel(sessionId);
    expect(world.agent.cancels).toHaveLength(0);
    await world.agent.comeTo(sessionId, messageId, 'A word.');
    await expect.poll(() => world.agent.cancels).toHaveLength(1);
  });

  test('is sent again, completely, if the agent dies before its turn', async () => {
    await leave();
    world.agent.crash(sessionId);
    await reader.untilTurn('turn_started', 2);
    expect(world.agent.received).toEqual(['Go.', 'A word.']);
    expect(world.agent.attached.at(-1)).toMatchObject([{ type: 'image' }]);
    await expect.poll(queue).toEqual([]);
  });

  const expectWaiting = async (next: World) => {
    const { queue } = await next.runtime.info(sessionId);
    expect(queue).toMatchObject([
      { turnId: messageId, message: 'A word.', blocks: [{ type: 'image' }], state: 'queued' },
    ]);
  };

  test('waits in the queue after a crash of the server', async () => {
    await leave();
    await expectWaiting(await world.restart('crash'));
  });

  test('waits in the queue even after a crash before the queue was stored', async () => {
    const { store, log } = world.storage;
    vi.spyOn(store, 'saveSession').mockReturnValue(new Promise(() => {}));
    const settle = vi.spyOn(log, 'settle');
    world.agent.leaveOver(sessionId, messageId);
    await expect.poll(() => log.unsettled()).toMatchObject([{ ended: true }]);
    const next = world.restart('crash');
    expect(settle).not.toHaveBeenCalled();
    vi.restoreAllMocks();
    await expectWaiting(await next);
  });
});

describe('the queue', () => {
  let ids: string[];
  beforeEach(async () => {
    await begin();
    ids = [];
    for (const message of ['one', 'two', 'three']) {
      ids.push((await world.runtime.send(sessionId, message)).turnId);
    }
  });

  test('is sent in the order that users set', async () => {
    const [one, two, three] = ids as [string, string, string];
    await world.runtime.moveQueued(sessionId, three, one);
    await world.runtime.moveQueued(sessionId, one);
    expect((await queue()).map(([message]) => message)).toEqual(['three', 'two', 'one']);
    await expect(world.runtime.moveQueued(sessionId, two, 'gone')).rejects.toMatchObject({
      code: 'MESSAGE_NOT_QUEUED',
    });
    for (const count of [2, 3, 4]) {
      world.agent.finish(sessionId);
      await reader.untilTurn('turn_started', count);
    }
    expect(world.agent.received).toEqual(['Go.', 'three', 'two', 'one']);
  });

  test('steers one of its messages into the running turn, and keeps the others', async () => {
    const turnId = (await reader.untilTurn('turn_started')).ofType('session:turn')[0]!.payload
      .turnId;

    const sent = await world.runtime.sendQueuedNow(sessionId, ids[1]!);

    expect(sent).toEqual({ turnId, steered: true });
    expect(world.agent.steered).toEqual(['two']);
    expect(await queue()).toEqual([
      ['one', 'queued'],
      ['three', 'queued'],
    ]);
    await reader.until(() => seen().length > 0);
    expect(seen()).toEqual([[turnId, 'two', 'sent', 'create']]);
    expect(world.agent.cancels).toEqual([]);
    await expect(world.runtime.sendQueuedNow(sessionId, ids[1]!)).rejects.toMatchObject({
      code: 'MESSAGE_NOT_QUEUED',
    });
  });

  test('makes a message the next one if the agent does not support steering, even if it is the next already', async () => {
    world.agent.beforeSteer = async () => {
      throw new ProviderError('NOT_SUPPORTED', 'It accepts no messages during a turn.');
    };
    for (const turnId of [ids[2], ids[2]]) {
      const sent = await world.runtime.sendQueuedNow(sessionId, turnId!);
      expect(sent).toEqual({ turnId, steered: false });
      expect((await queue()).map(([message]) => message)).toEqual(['three', 'one', 'two']);
    }
    expect(world.agent.cancels).toEqual([]);
  });

  test('a message that was being steered when the turn ended is sent exactly once', async () => {
    world.agent.beforeSteer = async () => {
      world.agent.finish(sessionId);
      await reader.untilTurn('turn_complete');
      throw agentErrors.NOTHING_TO_STEER.noTurn();
    };
    const { steered } = await world.runtime.sendQueuedNow(sessionId, ids[0]!);
    expect(steered).toBe(false);
    await reader.untilTurn('turn_started', 2);
    world.agent.finish(sessionId);
    await reader.untilTurn('turn_started', 3);
    expect(world.agent.received).toEqual(['Go.', 'one', 'two']);
    expect(world.agent.steered).toEqual([]);
  });

  test('keeps the place of a message that could not be steered', async () => {
    world.agent.beforeSteer = async () => {
      throw new ProviderError('PROCESS_CRASH', 'It died.');
    };
    await expect(world.runtime.sendQueuedNow(sessionId, ids[1]!)).rejects.toMatchObject({
      code: 'PROCESS_CRASH',
    });
    expect(await queue()).toEqual([
      ['one', 'queued'],
      ['two', 'queued'],
      ['three', 'queued'],
    ]);
  });

  test('after a crash does not repeat a message that the log has in a turn', async () => {
    const { store } = world.storage;
    world.agent.beforeSteer = async () => {
      const first = async () => (await store.getSession(sessionId))?.queue[0]?.state;
      await expect.poll(first).toBe('sending');
      // From now on, no change of the session's record is stored.
      vi.spyOn(store, 'saveSession').mockResolvedValue();
    };
    const { turnId } = await world.runtime.sendQueuedNow(sessionId, ids[0]!);

    const crashed = world.restart('crash');
    vi.restoreAllMocks();
    const next = await crashed;

    const info = await next.runtime.info(sessionId);
    expect(info.queue.map(({ message }) => message)).toEqual(['two', 'three']);
    const again = await new Reader(next.runtime, sessionId).untilType('session:history');
    expect(seen(again)).toEqual([[turnId, 'one', 'not_taken', 'complete']]);
  });
});
