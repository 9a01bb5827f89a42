import { setImmediate } from 'node:timers/promises';
import { LiminalError } from '@liminal/protocol';
import { type Inboxes } from '@liminal/storage';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { Messenger } from '../../src/cluster/messenger.ts';

test('an error that arrives before the question’s send resolves rejects the call, and is not unhandled', async () => {
  const { inboxes } = openSharedMemoryStorage().coordination;
  const answered = Promise.withResolvers<void>();
  const slow: Inboxes = {
    open: async (name, listener) => inboxes.open(name, listener),
    send: async (name, message) => {
      const heard = await inboxes.send(name, message);
      await answered.promise;
      // Wait, because an unhandled rejection would end the process here.
      await setImmediate();
      await setImmediate();
      return heard;
    },
  };
  const refuse = async (): Promise<never> => {
    setTimeout(answered.resolve, 20);
    throw new LiminalError('MESSAGE_NOT_QUEUED', 'It does not wait any more.');
  };
  const onTrouble = (error: unknown): void => expect.fail(String(error));
  const asking = new Messenger({ inboxes: slow, instanceId: 'a', answer: refuse, onTrouble });
  const asked = new Messenger({ inboxes, instanceId: 'b', answer: refuse, onTrouble });
  await Promise.all([asking.open(), asked.open()]);
  const question = asking.request('b', 'Is it there?', AbortSignal.timeout(10_000));
  await expect(question).rejects.toMatchObject({ code: 'MESSAGE_NOT_QUEUED' });
  await Promise.all([asking.close(), asked.close()]);
});

test('an answer that cannot be sent while Redis is unreachable is sent when it is back', async () => {
  const { inboxes } = openSharedMemoryStorage().coordination;
  let failures = 0;
  const restarting: Inboxes = {
    open: async (name, listener) => inboxes.open(name, listener),
    send: async (name, message) => {
      failures += 1;
      if (failures <= 2) throw new LiminalError('REDIS_UNAVAILABLE', 'Redis is away.');
      return inboxes.send(name, message);
    },
  };
  const asked: unknown[] = [];
  const answer = async (question: unknown): Promise<string> => {
    asked.push(question);
    return 'Yes.';
  };
  const onTrouble = (error: unknown): void => expect.fail(String(error));
  const asking = new Messenger({ inboxes, instanceId: 'a', answer, onTrouble });
  const owner = new Messenger({ inboxes: restarting, instanceId: 'b', answer, onTrouble });
  await Promise.all([asking.open(), owner.open()]);
  const question = asking.request('b', 'Is it there?', AbortSignal.timeout(10_000));
  expect(await question).toBe('Yes.');
  expect([asked, failures]).toEqual([['Is it there?'], 3]);
  await Promise.all([asking.close(), owner.close()]);
});

test('INV-1 a question or an answer that Redis loses is sent again; the question is worked on once, and all calls get its answer', async () => {
  const { inboxes } = openSharedMemoryStorage().coordination;
  /** The fate of each message in order; later messages are delivered. */
  const losing = (fates: ('lost' | 'not heard')[]): Inboxes => ({
    open: async (name, listener) => inboxes.open(name, listener),
    send: async (name, message) => {
      const fate = fates.shift();
      return fate === undefined ? inboxes.send(name, message) : fate === 'lost';
    },
  });
  const done: unknown[] = [];
  const answer = async (question: unknown): Promise<string> => {
    done.push(question);
    return `${String(question)} Yes.`;
  };
  const onTrouble = (error: unknown): void => expect.fail(String(error));
  const common = { answer, onTrouble, againMs: 20 };
  const toAsk = losing(['lost', 'lost']);
  const asking = new Messenger({ ...common, inboxes: toAsk, instanceId: 'a' });
  const toAnswer = losing(['not heard', 'lost']);
  const owner = new Messenger({ ...common, inboxes: toAnswer, instanceId: 'b' });
  await Promise.all([asking.open(), owner.open()]);
  const patience = AbortSignal.timeout(10_000);
  expect(await asking.request('b', 'Is it there?', patience)).toBe('Is it there? Yes.');
  expect(await asking.request('b', 'Still?', patience)).toBe('Still? Yes.');
  expect(done).toEqual(['Is it there?', 'Still?']);
  await Promise.all([asking.close(), owner.close()]);
});

test('INV-1 a question that is repeated while it is worked on is worked on once', async () => {
  const { inboxes } = openSharedMemoryStorage().coordination;
  const sentThrice = Promise.withResolvers<void>();
  let sent = 0;
  const counted: Inboxes = {
    open: async (name, listener) => inboxes.open(name, listener),
    send: async (name, message) => {
      const heard = await inboxes.send(name, message);
      sent += 1;
      if (sent === 3) sentThrice.resolve();
      return heard;
    },
  };
  const done: unknown[] = [];
  const answer = async (question: unknown): Promise<string> => {
    done.push(question);
    await sentThrice.promise;
    await setImmediate();
    return 'Yes.';
  };
  const onTrouble = (error: unknown): void => expect.fail(String(error));
  const asking = new Messenger({
    inboxes: counted,
    instanceId: 'a',
    answer,
    onTrouble,
    againMs: 5,
  });
  const owner = new Messenger({ inboxes, instanceId: 'b', answer, onTrouble });
  await Promise.all([asking.open(), owner.open()]);
  expect(await asking.request('b', 'Do it.', AbortSignal.timeout(10_000))).toBe('Yes.');
  expect(done).toEqual(['Do it.']);
  await Promise.all([asking.close(), owner.close()]);
});

test('closing succeeds even if the inbox cannot be closed', async () => {
  const { inboxes } = openSharedMemoryStorage().coordination;
  const unclosable: Inboxes = {
    open: async () => async () => {
      throw new LiminalError('REDIS_UNAVAILABLE', 'Redis is away.');
    },
    send: async (name, message) => inboxes.send(name, message),
  };
  const told: unknown[] = [];
  const messenger = new Messenger({
    inboxes: unclosable,
    instanceId: 'a',
    answer: async () => undefined,
    onTrouble: (error) => told.push(error),
  });
  await messenger.open();
  await messenger.close();
  expect(told).toMatchObject([{ code: 'REDIS_UNAVAILABLE' }]);
});
