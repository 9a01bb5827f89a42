import { LiminalError } from '@liminal/protocol';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, test, vi } from 'vitest';
import type { CommandRequest } from '../commands.ts';
import { NotListeningError, type Messenger } from './messenger.ts';
import type { OwnedSessions } from './owned-sessions.ts';
import { Ownership } from './ownership.ts';
import { notOwner, Router } from './router.ts';
import { useFakeDelays } from './testing/fake-delays.ts';

beforeEach(useFakeDelays);

const sessionId = 'one';
const cancel: CommandRequest = { command: 'cancel', sessionId, args: [] };
const rename: CommandRequest = { command: 'rename', sessionId, args: ['New'] };
const staleOwner = () => new LiminalError('STALE_OWNER', 'Another server has the session.');

/** A server whose commands, and whose messages to other servers, are recorded. */
function openRouter() {
  const { coordination, store } = openSharedMemoryStorage();
  const { leases } = coordination;
  const steps: string[] = [];
  /** The outcomes of messages to other servers. If there is no entry, the owner answers. */
  const fates: ((signal: AbortSignal) => Promise<unknown>)[] = [];
  /** The outcomes of the commands that run on this server. */
  const results: (() => Promise<unknown>)[] = [];
  const ownership = new Ownership({
    leases,
    store,
    instanceId: 'a',
    ttlMs: 1_000_000,
    onLost: () => {},
    onTrouble: () => {},
  });
  const run = async ({ command, sessionId, args }: CommandRequest) => {
    steps.push([command, sessionId, ...args].join(' '));
    return results.shift()?.();
  };
  const owned = {
    act: async (_: string, step: () => Promise<unknown>) =>
      (await ownership.take(sessionId)) && { value: await step() },
    actAsOwner: async (_: string, step: () => Promise<unknown>) =>
      ownership.leaseOf(sessionId) && { value: await step() },
  } as unknown as OwnedSessions;
  const messenger = {
    request: async (owner: string, { command }: CommandRequest, signal: AbortSignal) => {
      steps.push(`ask ${owner} ${command}`);
      return (fates.shift() ?? (async () => 'answer'))(signal);
    },
  } as unknown as Messenger;
  const router = new Router({ ownership, owned, messenger, run });
  const takeByOther = async (holder = 'b') =>
    leases.acquire(`session:${sessionId}`, holder, 1_000_000);
  const breakLeases = (renew: () => Promise<boolean>) => {
    vi.spyOn(leases, 'renew').mockImplementation(renew);
    // Waits until the leases are so old that the server must ask Redis for them.
    return vi.advanceTimersByTimeAsync(950_000);
  };
  return { router, ownership, leases, steps, fates, results, takeByOther, breakLeases };
}

/** Waits for an owner that never answers. */
const hang = async (signal: AbortSignal): Promise<never> => {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason));
  return promise;
};

/** Advances the clock by `ms`, and returns the command's result. */
async function advanced<T>(ms: number, running: Promise<T>): Promise<T> {
  running.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(ms);
  return running;
}

test('a command for a session without an owner runs on this server', async () => {
  const { router, ownership, steps, results } = openRouter();
  results.push(async () => 'done');
  expect(await router.run(rename)).toBe('done');
  expect(steps).toEqual(['rename one New']);
  expect(ownership.owned).toEqual([sessionId]);
});

test('a command for a session of another server is sent to that server, and its answer is returned', async () => {
  const { router, takeByOther, steps } = openRouter();
  await takeByOther();
  expect(await router.run(rename)).toBe('answer');
  expect(steps).toEqual(['ask b rename']);
});

test('a command that fails on this server rejects with its error', async () => {
  const { router, results, steps } = openRouter();
  const error = new LiminalError('INVALID_OPTION', 'No.');
  results.push(async () => {
    throw error;
  });
  await expect(router.run(rename)).rejects.toBe(error);
  expect(steps).toHaveLength(1);
});

test('a command that the owner rejects also rejects on this server, with the owner’s error', async () => {
  const { router, takeByOther, fates, steps } = openRouter();
  await takeByOther();
  const error = new LiminalError('INVALID_OPTION', 'No.');
  fates.push(async () => {
    throw error;
  });
  await expect(router.run(rename)).rejects.toBe(error);
  expect(steps).toHaveLength(1);
});

test.each([
  ['is gone', () => new NotListeningError()],
  ['no longer owns the session', () => new LiminalError(notOwner, 'It is not the owner.')],
])('if the asked server %s, the next owner is asked', async (_, refusal) => {
  const { router, takeByOther, fates, steps, leases } = openRouter();
  const lease = await takeByOther();
  fates.push(async () => {
    if (lease) await leases.release(lease);
    await takeByOther('c');
    throw refusal();
  });
  expect(await advanced(50, router.run(rename))).toBe('answer');
  expect(steps).toEqual(['ask b rename', 'ask c rename']);
});

test('if the owner changes before it has answered a command, the command is sent to the next owner', async () => {
  const { router, takeByOther, fates, steps, leases } = openRouter();
  const lease = await takeByOther();
  fates.push(hang);
  const running = router.run(rename);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(steps).toEqual(['ask b rename']);
  if (lease) await leases.release(lease);
  await takeByOther('c');
  expect(await advanced(550, running)).toBe('answer');
  expect(steps).toEqual(['ask b rename', 'ask c rename']);
});

test('while the owner cannot be looked up, the owner is treated as unchanged', async () => {
  const { router, ownership, takeByOther, fates, steps } = openRouter();
  await takeByOther();
  const answer = Promise.withResolvers<string>();
  fates.push(async (signal) => Promise.race([answer.promise, hang(signal)]));
  const running = router.run(rename);
  await vi.advanceTimersByTimeAsync(0);
  vi.spyOn(ownership, 'ownerOf').mockRejectedValue(new Error('Redis is away.'));
  await vi.advanceTimersByTimeAsync(5_000);
  answer.resolve('late');
  expect(await running).toBe('late');
  expect(steps).toHaveLength(1);
});

test('once the owner has answered, the owner is no longer looked up', async () => {
  const { router, ownership, takeByOther } = openRouter();
  await takeByOther();
  await router.run(rename);
  const lookUp = vi.spyOn(ownership, 'ownerOf');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lookUp).not.toHaveBeenCalled();
});

test('if the owner is lost before it answers a command, this server runs the command', async () => {
  const { router, takeByOther, fates, results, steps, leases } = openRouter();
  const lease = await takeByOther();
  fates.push(hang);
  results.push(async () => 'here');
  const running = router.run(rename);
  await vi.advanceTimersByTimeAsync(0);
  if (lease) await leases.release(lease);
  expect(await advanced(550, running)).toBe('here');
  expect(steps).toEqual(['ask b rename', 'rename one New']);
});

test('a command that is not answered within two minutes is given up, although the owner may have run it', async () => {
  const { router, takeByOther, fates } = openRouter();
  await takeByOther();
  fates.push(hang);
  const running = router.run(rename);
  const outcome = running.then(
    () => 'answered',
    (error: unknown) => error,
  );
  await vi.advanceTimersByTimeAsync(119_999);
  expect(await Promise.race([outcome, Promise.resolve('waits')])).toBe('waits');
  await vi.advanceTimersByTimeAsync(100);
  expect(await outcome).toMatchObject({
    code: 'OWNER_UNREACHABLE',
    message:
      'The server that runs session one did not answer. The command may have been run: check before you try again.',
  });
});

test('if another server has taken the session when a command begins, the command is sent to that server', async () => {
  const { router, ownership, results, steps, takeByOther } = openRouter();
  results.push(async () => {
    await ownership.release(sessionId);
    await takeByOther();
    throw staleOwner();
  });
  expect(await advanced(50, router.run(rename))).toBe('answer');
  expect(steps).toEqual(['rename one New', 'ask b rename']);
});

test('a command from another server runs only while this server owns the session', async () => {
  const { router, ownership, steps, results } = openRouter();
  expect(await router.answer(rename)).toBeUndefined();
  await ownership.take(sessionId);
  results.push(async () => 'done');
  expect(await router.answer(rename)).toEqual({ value: 'done' });
  expect(steps).toEqual(['rename one New']);
});

test('a command from another server is not run if a third server has taken the session', async () => {
  const { router, ownership, steps, breakLeases } = openRouter();
  await ownership.take(sessionId);
  await breakLeases(async () => false);
  expect(await router.answer(rename)).toBeUndefined();
  expect(steps).toEqual([]);
});

test('while Redis is unreachable, a command that only ends something runs, and other commands fail', async () => {
  const { router, ownership, steps, breakLeases } = openRouter();
  await ownership.take(sessionId);
  await breakLeases(async () => {
    throw new Error('Redis is away.');
  });
  await router.answer(cancel);
  await router.answer({ command: 'kill', sessionId, args: [] });
  await router.answer({ command: 'stopTask', sessionId, args: ['task'] });
  expect(steps).toEqual(['cancel one', 'kill one', 'stopTask one task']);
  await expect(router.answer(rename)).rejects.toThrow('Redis is away.');
  expect(steps).toHaveLength(3);
});
