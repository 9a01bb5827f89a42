import { LiminalError } from '@liminal/protocol';
import type { Inboxes } from '@liminal/storage';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, test, vi } from 'vitest';
import { Messenger, NotListeningError } from './messenger.ts';
import { useFakeDelays } from './testing/fake-delays.ts';

beforeEach(useFakeDelays);

/** Server `a` asks, and server `b` answers with the result of `answers`. All messages between them are recorded. */
async function openMessengers(answers: (question: unknown) => Promise<unknown>) {
  const { inboxes } = openSharedMemoryStorage().coordination;
  const sent: { to: string; message: Record<string, unknown> }[] = [];
  const troubles: unknown[] = [];
  /** Functions that replace the sending of messages, by receiver. */
  const faults = new Map<string, () => Promise<boolean>>();
  const send: Inboxes['send'] = async (to, text) => {
    sent.push({ to, message: JSON.parse(text) });
    const fault = faults.get(to);
    return fault ? fault() : inboxes.send(to, text);
  };
  const open: Inboxes['open'] = async (name, listener) => inboxes.open(name, listener);
  const [asker, owner] = ['a', 'b'].map((instanceId) => {
    const onTrouble = (error: unknown) => void troubles.push(error);
    return new Messenger({ inboxes: { open, send }, instanceId, answer: answers, onTrouble });
  }) as [Messenger, Messenger];
  await asker.open();
  await owner.open();
  const kinds = () => sent.map(({ to, message }) => `${to} ${String(message['kind'])}`);
  return { asker, owner, inboxes, sent, kinds, troubles, faults };
}

const patient = new AbortController().signal;

test('a question is sent to the inbox of the asked server, and the answer is sent to the inbox of the asking server', async () => {
  const { asker, sent, troubles } = await openMessengers(async (question) => ({ question }));
  expect(await asker.request('b', { is: 'it' }, patient)).toEqual({ question: { is: 'it' } });
  const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(sent).toEqual([
    { to: 'instance:b', message: { kind: 'ask', id, from: 'a', question: { is: 'it' } } },
    { to: 'instance:a', message: { kind: 'answer', id, value: { question: { is: 'it' } } } },
  ]);
  expect(troubles).toEqual([]);
});

test('an answer may have no value', async () => {
  const { asker } = await openMessengers(async () => undefined);
  await expect(asker.request('b', 'Is it?', patient)).resolves.toBeUndefined();
});

test('an error of the asked server arrives with its code and its message', async () => {
  const { asker } = await openMessengers(async () => {
    throw new LiminalError('INVALID_OPTION', 'There is no such option.');
  });
  const asked = asker.request('b', 'Is it?', patient);
  await expect(asked).rejects.toBeInstanceOf(LiminalError);
  await expect(asked).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: 'There is no such option.',
  });
});

test('a question to a server that is not listening is rejected', async () => {
  const { asker } = await openMessengers(async () => 'Yes.');
  const asked = asker.request('c', 'Is it?', patient);
  await expect(asked).rejects.toBeInstanceOf(NotListeningError);
  await expect(asked).rejects.toThrow('Server c is not listening.');
});

test('a question whose signal has already aborted is not sent', async () => {
  const { asker, sent } = await openMessengers(async () => 'Yes.');
  const reason = new Error('It took too long.');
  await expect(asker.request('b', 'Is it?', AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(sent).toEqual([]);
});

test('an unanswered question is sent again every five seconds, until the asker gives up', async () => {
  const { asker, kinds, faults } = await openMessengers(async () => 'Yes.');
  faults.set('instance:b', async () => true);
  const abort = new AbortController();
  const asked = asker.request('b', 'Is it?', abort.signal).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(14_999);
  expect(kinds()).toEqual(Array(3).fill('instance:b ask'));
  const reason = new Error('It took too long.');
  abort.abort(reason);
  expect(await asked).toBe(reason);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(kinds()).toHaveLength(3);
});

test('if sending a question again fails, the asker keeps waiting and sending', async () => {
  const { asker, owner, kinds, faults, troubles } = await openMessengers(async () => 'Yes.');
  faults.set('instance:b', async () => true);
  const asked = asker.request('b', 'Is it?', patient);
  await vi.advanceTimersByTimeAsync(0);
  faults.set('instance:b', async () => {
    throw new Error('Redis is away.');
  });
  await vi.advanceTimersByTimeAsync(5_000);
  faults.clear();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await asked).toBe('Yes.');
  expect(kinds().filter((kind) => kind === 'instance:b ask')).toHaveLength(3);
  expect(troubles).toEqual([]);
  await owner.close();
});

test('once a question is answered, it is not sent again, and its listener on the signal is removed', async () => {
  const { asker, kinds } = await openMessengers(async () => 'Yes.');
  const { signal } = new AbortController();
  const removed = vi.spyOn(signal, 'removeEventListener');
  await asker.request('b', 'Is it?', signal);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(kinds()).toEqual(['instance:b ask', 'instance:a answer']);
  expect(removed).toHaveBeenCalledWith('abort', expect.any(Function));
});

test('a question that is repeated within half a minute gets the stored answer; after that, the answer is computed again', async () => {
  let count = 0;
  const { inboxes, kinds } = await openMessengers(async () => ++count);
  const ask = JSON.stringify({ kind: 'ask', id: 'question', from: 'a', question: 'Is it?' });
  const asks = async () => {
    await inboxes.send('instance:b', ask);
    await vi.advanceTimersByTimeAsync(0);
  };
  await asks();
  await vi.advanceTimersByTimeAsync(29_999);
  await asks();
  expect(count).toBe(1);
  expect(kinds()).toEqual(Array(2).fill('instance:a answer'));
  await vi.advanceTimersByTimeAsync(1);
  await asks();
  expect(count).toBe(2);
});

test('an answer to a question that is not open is ignored', async () => {
  const { inboxes, troubles } = await openMessengers(async () => 'Yes.');
  await inboxes.send('instance:a', JSON.stringify({ kind: 'answer', id: 'none', value: 1 }));
  const refusal = { kind: 'refusal', id: 'none', code: 'A', message: 'B' };
  await inboxes.send('instance:a', JSON.stringify(refusal));
  await vi.advanceTimersByTimeAsync(0);
  expect(troubles).toEqual([]);
});

test.each(['{', '{}', '{"kind":"ask"}', '{"kind":"refusal","id":"1"}'])(
  'a message in an unknown form is reported: %s',
  async (text) => {
    const { inboxes, troubles, sent } = await openMessengers(async () => 'Yes.');
    await inboxes.send('instance:b', text);
    await vi.advanceTimersByTimeAsync(0);
    expect(troubles).toHaveLength(1);
    expect(sent).toEqual([]);
  },
);

test('an answer that cannot be sent is retried five times a second for a minute, then the failure is reported', async () => {
  const { inboxes, kinds, troubles, faults } = await openMessengers(async () => 'Yes.');
  const error = new Error('Redis is away.');
  faults.set('instance:a', async () => {
    throw error;
  });
  const ask = { kind: 'ask', id: 'question', from: 'a', question: 'Is it?' };
  await inboxes.send('instance:b', JSON.stringify(ask));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(kinds()).toHaveLength(6);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(troubles).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(troubles).toEqual([error]);
  const count = kinds().length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(kinds()).toHaveLength(count);
});

test('closing ends the retries of sending an answer', async () => {
  const { owner, inboxes, kinds, troubles, faults } = await openMessengers(async () => 'Yes.');
  faults.set('instance:a', async () => {
    throw new Error('Redis is away.');
  });
  const ask = { kind: 'ask', id: 'question', from: 'a', question: 'Is it?' };
  await inboxes.send('instance:b', JSON.stringify(ask));
  await vi.advanceTimersByTimeAsync(100);
  await owner.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(kinds()).toHaveLength(2);
  expect(troubles).toHaveLength(1);
});

test('closing rejects the questions of this server, and closes its inbox', async () => {
  const { asker, inboxes, faults } = await openMessengers(async () => 'Yes.');
  faults.set('instance:b', async () => true);
  const asked = asker.request('b', 'Is it?', patient);
  const outcome = asked.catch((error: unknown) => error);
  await asker.close();
  expect(await outcome).toBeInstanceOf(NotListeningError);
  expect(await outcome).toMatchObject({ message: 'This server is shutting down.' });
  expect(await inboxes.send('instance:a', '{}')).toBe(false);
});

test('a messenger that was never open can be closed', async () => {
  const { inboxes } = openSharedMemoryStorage().coordination;
  const options = { inboxes, instanceId: 'a', answer: async () => {}, onTrouble: () => {} };
  await expect(new Messenger(options).close()).resolves.toBeUndefined();
});
