/** A user's stop in every state of a session: nothing begins after it until a user resumes. */
import { randomUUID } from 'node:crypto';
import { ProviderError } from '@liminal/agents';
import { type ApprovalOption, steeredItemId } from '@liminal/protocol';
import { StorageError } from '@liminal/storage';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';
import { openMedium } from './medium.ts';

const worlds: World[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const world of worlds.splice(0)) await world.end();
});

/** Options of a poll. The interval is short, because each polled state lasts only a short time. */
const soon = { interval: 5 };

/** One session, and the messages that its agent got. */
class Talk {
  world: World;
  readonly sessionId: string;
  reader: Reader;

  constructor(world: World, sessionId: string) {
    this.world = world;
    this.sessionId = sessionId;
    this.reader = new Reader(world.runtime, sessionId);
  }

  static async begin(): Promise<Talk> {
    const world = await startWorld({}, { medium: openMedium('sqlite') });
    worlds.push(world);
    const { projectDir } = world;
    const created = await world.runtime.createSession({ cliType: 'scripted', projectDir });
    const talk = new Talk(world, created.sessionId);
    await talk.reader.untilType('session:info');
    return talk;
  }

  async info() {
    return this.world.runtime.info(this.sessionId);
  }

  async queue(): Promise<string[]> {
    return (await this.info()).queue.map(({ message, state }) => `${state}: ${message}`);
  }

  /** Queues messages behind the running turn. */
  async queueUp(count: number): Promise<string[]> {
    const messages = ['One.', 'Two.', 'Three.'].slice(0, count);
    for (const message of messages) await this.world.runtime.send(this.sessionId, message);
    return messages;
  }

  async stop(): Promise<void> {
    await this.world.runtime.cancel(this.sessionId);
  }

  /** Resolves when nothing runs. */
  async ended(): Promise<void> {
    const busy = ['running', 'waiting'];
    await expect
      .poll(async () => busy.includes((await this.info()).session.state), soon)
      .toBe(false);
  }

  async restart(how: 'crash' | 'close'): Promise<void> {
    this.reader.close();
    this.world = await this.world.restart(how);
    worlds.splice(0, 1, this.world);
    this.reader = new Reader(this.world.runtime, this.sessionId);
    await this.reader.untilType('session:info');
  }
}

const form = {
  type: 'object' as const,
  properties: { colour: { type: 'string' as const, title: 'Colour' } },
};
const options: ApprovalOption[] = [
  { optionId: 'yes', name: 'Start', kind: 'allow_once' },
  { optionId: 'no', name: 'Keep planning', kind: 'reject_once' },
];

interface State {
  /** Brings a session with a running turn into the state. */
  reach: (talk: Talk) => Promise<void> | void;
  /** The messages that come back to the queue. */
  unread?: string[];
}

const ask = (talk: Talk, more: object = {}): void =>
  talk.world.agent.emit(talk.sessionId, {
    type: 'item_start',
    itemId: 'a',
    itemType: 'approval',
    approvalId: 'a',
    title: 'Go?',
    options,
    ...more,
  });

const steer = async ({ world, sessionId }: Talk, message: string): Promise<string> => {
  const messageId = randomUUID();
  await world.runtime.steer(sessionId, message, messageId);
  return messageId;
};

/** The agent ignores the request to end its turn. */
const neverEnds = ({ world }: Talk): void =>
  void vi.spyOn(world.agent, 'cancel').mockResolvedValue(undefined);

const states: Record<string, State> = {
  'a turn that has just begun': { reach: () => {} },
  'a text': { reach: ({ world, sessionId }) => world.agent.text(sessionId, 't', 'Half a ') },
  'a tool that runs': {
    reach: ({ world, sessionId }) =>
      world.agent.emit(sessionId, {
        type: 'item_start',
        itemId: 'c',
        itemType: 'function_call',
        callId: 'c',
        name: 'Bash',
      }),
  },
  'a permission request': { reach: (talk) => ask(talk) },
  'a question': { reach: (talk) => ask(talk, { form }) },
  'a plan': { reach: (talk) => ask(talk, { title: 'Plan', description: '# Do it' }) },
  'a compaction': {
    reach: ({ world, sessionId }) =>
      world.agent.emit(sessionId, {
        type: 'item_start',
        itemId: 'n',
        itemType: 'message',
        origin: 'system',
        initialContent: 'Compacting.',
      }),
  },
  'a steered message that was not read': {
    reach: async (talk) => void (await steer(talk, 'A word.')),
    unread: ['A word.'],
  },
  'two steered messages that were not read, and one that was read': {
    reach: async (talk) => {
      const read = await steer(talk, 'Read.');
      await steer(talk, 'A word.');
      await steer(talk, 'Another.');
      talk.world.agent.takeUp(talk.sessionId, read, 'Read.');
    },
    unread: ['A word.', 'Another.'],
  },
  'a steered message that the agent reports as not read': {
    reach: async (talk) => {
      const messageId = await steer(talk, 'A word.');
      const { agent } = talk.world;
      vi.spyOn(agent, 'cancel').mockImplementation(async (sessionId) => {
        const id = steeredItemId(agent.turnOf(sessionId), messageId);
        const item = { type: 'message', id, content: 'A word.', origin: 'user' } as const;
        agent.emit(sessionId, {
          type: 'item_done',
          itemId: id,
          finalItem: { ...item, delivery: 'not_taken' },
        });
        agent.finish(sessionId);
      });
    },
    unread: ['A word.'],
  },
  'an agent that the stop kills': {
    reach: async (talk) => {
      await steer(talk, 'A word.');
      const { agent } = talk.world;
      vi.spyOn(agent, 'cancel').mockImplementation(async (sessionId) => agent.crash(sessionId));
    },
    unread: ['A word.'],
  },
};

const next = ['at once', 'after a crash of the server', 'after its orderly end'] as const;

async function go(talk: Talk, how: (typeof next)[number]): Promise<void> {
  if (how !== 'at once') await talk.restart(how.includes('crash') ? 'crash' : 'close');
}

describe.each(Object.entries(states))('a stop during: %s', (_, { reach, unread = [] }) => {
  describe.each([0, 1, 3])('with %i queued messages', (count) => {
    test.each(next)(
      'no turn begins; %s a new message is sent first, then the queue',
      async (how) => {
        const talk = await Talk.begin();
        await talk.world.runtime.send(talk.sessionId, 'Go.');
        const queued = await talk.queueUp(count);
        await reach(talk);
        const expected = [...unread, ...queued];

        // Two clients at the same time.
        await Promise.all([talk.stop(), talk.stop()]);
        if (how === 'at once') await talk.ended();
        await go(talk, how);

        expect(await talk.queue()).toEqual(expected.map((message) => `queued: ${message}`));
        const { queuePaused } = (await talk.info()).session;
        expect(queuePaused).toBe(expected.length > 0 ? true : undefined);
        expect((await talk.world.runtime.status(talk.sessionId)).queuePaused).toBe(queuePaused);
        const before = talk.world.agent.received.length;
        await talk.world.runtime.send(talk.sessionId, 'New.');
        await play(talk, before, ['New.', ...expected]);
        expect(talk.world.agent.received.slice(before)).toEqual(['New.', ...expected]);
        expect((await talk.info()).session.queuePaused).toBeUndefined();
      },
    );
  });
});

/** Ends the turns of these messages as they begin, until the queue is empty. */
async function play(talk: Talk, before: number, messages: readonly string[]): Promise<void> {
  const { agent } = talk.world;
  for (const [at, message] of messages.entries()) {
    await expect.poll(() => agent.received[before + at], soon).toBe(message);
    agent.finish(talk.sessionId);
  }
  await expect.poll(async () => (await talk.info()).session.state, soon).toBe('idle');
}

async function pausedTalk(): Promise<Talk> {
  const talk = await Talk.begin();
  await talk.world.runtime.send(talk.sessionId, 'Go.');
  await talk.queueUp(3);
  await talk.stop();
  await talk.ended();
  return talk;
}

test('if the server crashes before a stopped turn has ended, the stop still applies, and no question is asked again', async () => {
  const talk = await Talk.begin();
  await talk.world.runtime.send(talk.sessionId, 'Go.');
  await talk.queueUp(1);
  await steer(talk, 'A word.');
  ask(talk);
  neverEnds(talk);
  await talk.stop();
  await talk.restart('crash');
  expect(await talk.queue()).toEqual(['queued: A word.', 'queued: One.']);
  expect((await talk.info()).session).toMatchObject({ queuePaused: true });
  const { awaits } = (await talk.world.storage.store.getSession(talk.sessionId))!;
  expect(awaits).toBeUndefined();
});

test('a stop of an idle session changes nothing', async () => {
  const talk = await Talk.begin();
  await talk.stop();
  expect((await talk.info()).session.queuePaused).toBeUndefined();
  await talk.world.runtime.send(talk.sessionId, 'Go.');
  await talk.queueUp(1);
  talk.world.agent.finish(talk.sessionId);
  await expect.poll(() => talk.world.agent.received, soon).toEqual(['Go.', 'One.']);
});

test('a stop while the agent is accepting the message stops the message’s turn, and the next message waits', async () => {
  const talk = await Talk.begin();
  const { agent, runtime } = talk.world;
  const held = Promise.withResolvers<void>();
  agent.hold = held.promise;
  const sent = runtime.send(talk.sessionId, 'Go.');
  await runtime.send(talk.sessionId, 'One.');
  await talk.stop();
  held.resolve();
  await sent;
  await expect.poll(() => agent.cancels, soon).toHaveLength(1);
  await talk.ended();
  expect(await talk.queue()).toEqual(['queued: One.']);
  await runtime.send(talk.sessionId, 'New.');
  await play(talk, 1, ['New.', 'One.']);
  expect(talk.world.agent.received.slice(1)).toEqual(['New.', 'One.']);
});

test('a paused queue stays paused after another stop, an edit, a move and a removal', async () => {
  const talk = await pausedTalk();
  const { runtime } = talk.world;
  await talk.stop();
  const [one, two, three] = (await talk.info()).queue.map(({ turnId }) => turnId);
  await runtime.editQueued(talk.sessionId, one!, 'One, edited.');
  await runtime.moveQueued(talk.sessionId, three!, one);
  await runtime.removeQueued(talk.sessionId, two!);
  expect(await talk.queue()).toEqual(['queued: Three.', 'queued: One, edited.']);
  const before = talk.world.agent.received.length;
  await runtime.send(talk.sessionId, 'New.');
  await play(talk, before, ['New.', 'Three.', 'One, edited.']);
  expect(talk.world.agent.received.slice(before)).toEqual(['New.', 'Three.', 'One, edited.']);
});

test('a message that is sent again because its response was lost does not resume the queue', async () => {
  const talk = await pausedTalk();
  const { turnId, message } = (await talk.info()).queue[1]!;
  await talk.world.runtime.send(talk.sessionId, message, turnId);
  expect(await talk.queue()).toEqual(['queued: One.', 'queued: Two.', 'queued: Three.']);
  expect((await talk.info()).session.queuePaused).toBe(true);
});

describe.each(next)('a paused queue, %s', (how) => {
  test('is resumed in its order', async () => {
    const talk = await pausedTalk();
    await go(talk, how);
    const before = talk.world.agent.received.length;
    await talk.world.runtime.resumeQueue(talk.sessionId);
    await play(talk, before, ['One.', 'Two.', 'Three.']);
    expect(talk.world.agent.received.slice(before)).toEqual(['One.', 'Two.', 'Three.']);
  });

  test('sends the message of “Send now” first, then the rest', async () => {
    const talk = await pausedTalk();
    await go(talk, how);
    const before = talk.world.agent.received.length;
    const { turnId } = (await talk.info()).queue[1]!;
    const sent = await talk.world.runtime.sendQueuedNow(talk.sessionId, turnId);
    expect(sent).toEqual({ turnId, steered: false });
    await play(talk, before, ['Two.', 'One.', 'Three.']);
    expect(talk.world.agent.received.slice(before)).toEqual(['Two.', 'One.', 'Three.']);
  });
});

test('if a queued message is being steered when the turn is stopped, it returns to the front of the queue', async () => {
  const talk = await Talk.begin();
  const { runtime } = talk.world;
  await runtime.send(talk.sessionId, 'Go.');
  await talk.queueUp(3);
  const { turnId } = (await talk.info()).queue[2]!;
  await runtime.sendQueuedNow(talk.sessionId, turnId);
  await talk.stop();
  await talk.ended();
  expect(await talk.queue()).toEqual(['queued: Three.', 'queued: One.', 'queued: Two.']);
  // The message is no longer in the stopped turn.
  const { entries } = await runtime.history(talk.sessionId);
  expect(JSON.stringify(entries)).not.toContain('Three.');
});

test('a message for which the agent begins a turn by itself after a stop is stopped as that turn begins', async () => {
  const talk = await Talk.begin();
  const { agent, runtime } = talk.world;
  await runtime.send(talk.sessionId, 'Go.');
  await talk.queueUp(1);
  const messageId = await steer(talk, 'A word.');
  vi.spyOn(agent, 'cancel').mockImplementationOnce(async () =>
    agent.leaveOver(talk.sessionId, messageId),
  );
  await talk.stop();
  await agent.comeTo(talk.sessionId, messageId, 'A word.');
  await expect.poll(() => agent.cancels, soon).toHaveLength(1);
  await talk.ended();
  await expect.poll(async () => talk.queue(), soon).toEqual(['queued: One.']);
  expect((await talk.info()).session.queuePaused).toBe(true);
});

test('a stop that the agent rejects reports the error, and still pauses the queue', async () => {
  const talk = await Talk.begin();
  const { agent, runtime } = talk.world;
  await runtime.send(talk.sessionId, 'Go.');
  await talk.queueUp(1);
  const refusal = new ProviderError('INTERRUPT_FAILED', 'It did not stop.');
  vi.spyOn(agent, 'cancel').mockRejectedValueOnce(refusal);
  await expect(talk.stop()).rejects.toMatchObject({ code: 'INTERRUPT_FAILED' });
  agent.finish(talk.sessionId);
  await talk.ended();
  expect(await talk.queue()).toEqual(['queued: One.']);
  expect((await talk.info()).session.queuePaused).toBe(true);
});

test('a stop that cannot be stored still stops the turn and the queue, and reports the error', async () => {
  const talk = await Talk.begin();
  const { agent, runtime, storage } = talk.world;
  await runtime.send(talk.sessionId, 'Go.');
  await talk.queueUp(1);
  const refusal = new StorageError('STORE_WRITE_FAILED', 'The disk is full.');
  vi.spyOn(storage.store, 'saveSession').mockRejectedValueOnce(refusal);
  await expect(talk.stop()).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' });
  expect(agent.cancels).toHaveLength(1);
  await talk.ended();
  expect(await talk.queue()).toEqual(['queued: One.']);
});

test('the end of the agent’s process pauses the queue', async () => {
  const talk = await Talk.begin();
  const { agent, runtime } = talk.world;
  await runtime.send(talk.sessionId, 'Go.');
  await talk.queueUp(1);
  await steer(talk, 'A word.');
  await runtime.kill(talk.sessionId);
  await talk.ended();
  expect(await talk.queue()).toEqual(['queued: A word.', 'queued: One.']);
  expect((await talk.info()).session.queuePaused).toBe(true);
  const before = agent.received.length;
  await runtime.resumeQueue(talk.sessionId);
  await play(talk, before, ['A word.', 'One.']);
  expect(talk.world.agent.received.slice(before)).toEqual(['A word.', 'One.']);
});

describe('a stop during the question about the folder’s settings', () => {
  const asked = async () => {
    const talk = await Talk.begin();
    talk.world.agent.project = { hash: 'h', files: [{ path: '/x/settings.json', text: '{}' }] };
    await talk.world.runtime.send(talk.sessionId, 'Go.');
    const waiting = () =>
      [...talk.reader.items.values()].filter(
        (item) => item.type === 'approval' && item.status === 'create',
      );
    await talk.reader.until(() => waiting().length === 1);
    return { talk, waiting };
  };

  test('withdraws the question, keeps the message, and asks again when the queue is resumed', async () => {
    const { talk, waiting } = await asked();
    await talk.stop();
    await talk.ended();
    expect(await talk.queue()).toEqual(['queued: Go.']);
    expect(waiting()).toEqual([]);
    await talk.world.runtime.resumeQueue(talk.sessionId);
    await talk.reader.until(() => waiting().length === 1);
    expect(talk.world.agent.received).toEqual([]);
  });

  test('is not needed if the message is removed: the question is withdrawn with it', async () => {
    const { talk, waiting } = await asked();
    const { turnId } = (await talk.info()).queue[0]!;
    await talk.world.runtime.removeQueued(talk.sessionId, turnId);
    await talk.ended();
    expect(waiting()).toEqual([]);
    expect(talk.world.agent.received).toEqual([]);
  });
});
