import { expect, test } from 'vitest';
import { AgentPool } from './agent-pool.ts';

class FakeProcess {
  isAlive = true;

  async end(): Promise<void> {
    this.isAlive = false;
  }
}

/** A pool; the test decides when and how its starts end. */
function poolOf({ isShared }: { isShared: boolean }) {
  const starts: { signal: AbortSignal; answer: PromiseWithResolvers<FakeProcess> }[] = [];
  const pool = new AgentPool<FakeProcess>((_cwd, signal) => {
    const answer = Promise.withResolvers<FakeProcess>();
    signal.addEventListener('abort', () => answer.reject(signal.reason));
    starts.push({ signal, answer });
    return answer.promise;
  }, isShared);
  return { pool, starts };
}

const never = new AbortController().signal;

test('a shared process is started once, and ends when its last user leaves', async () => {
  const { pool, starts } = poolOf({ isShared: true });
  const both = [pool.take('/', never), pool.take('/', never)];
  const process = new FakeProcess();
  starts[0]?.answer.resolve(process);
  expect(await Promise.all(both)).toEqual([process, process]);
  expect(starts).toHaveLength(1);

  await pool.release(process);
  expect([process.isAlive, pool.isLastUser(process), pool.running]).toEqual([true, true, process]);
  await pool.release(process);
  expect([process.isAlive, pool.running]).toEqual([false, undefined]);
});

test('when a shared process has ended, the next user gets a new process', async () => {
  const { pool, starts } = poolOf({ isShared: true });
  const [old, fresh] = [new FakeProcess(), new FakeProcess()];
  const first = pool.take('/', never);
  starts[0]?.answer.resolve(old);
  await first;
  old.isAlive = false;

  const second = pool.take('/', never);
  await expect.poll(() => starts.length).toBe(2);
  starts[1]?.answer.resolve(fresh);
  expect(await second).toBe(fresh);
});

test('when a start fails, the next user starts again', async () => {
  const { pool, starts } = poolOf({ isShared: true });
  const first = pool.take('/', never);
  starts[0]?.answer.reject(new Error('No.'));
  await expect(first).rejects.toThrow('No.');

  const second = pool.take('/', never);
  starts[1]?.answer.resolve(new FakeProcess());
  expect((await second).isAlive).toBe(true);
});

test('when one of two users aborts, that user’s wait ends and the start continues for the other user', async () => {
  const { pool, starts } = poolOf({ isShared: true });
  const abort = new AbortController();
  const [leaving, staying] = [pool.take('/', abort.signal), pool.take('/', never)];
  abort.abort(new Error('Not wanted.'));
  await expect(leaving).rejects.toThrow('Not wanted.');

  starts[0]?.answer.resolve(new FakeProcess());
  expect((await staying).isAlive).toBe(true);
  expect(starts[0]?.signal.aborted).toBe(false);
});

test('a start that no user waits for any more is aborted', async () => {
  const { pool, starts } = poolOf({ isShared: true });
  const abort = new AbortController();
  const leaving = pool.take('/', abort.signal);
  abort.abort(new Error('Not wanted.'));
  await expect(leaving).rejects.toThrow('Not wanted.');
  expect(starts[0]?.signal.aborted).toBe(true);

  const next = pool.take('/', never);
  starts[1]?.answer.resolve(new FakeProcess());
  expect((await next).isAlive).toBe(true);
});

test('without sharing, each user has its own process', async () => {
  const { pool, starts } = poolOf({ isShared: false });
  const both = [pool.take('/', never), pool.take('/', never)];
  for (const { answer } of starts) answer.resolve(new FakeProcess());
  const [one, other] = await Promise.all(both);
  expect(one).not.toBe(other);
  await pool.release(one!);
  expect([one?.isAlive, other?.isAlive]).toEqual([false, true]);
});
