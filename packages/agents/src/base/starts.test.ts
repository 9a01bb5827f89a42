import { expect, test } from 'vitest';
import { Starts } from './starts.ts';

const session = (sessionId: string) => ({ sessionId, cliType: 'claude-code' });

/** A start that lasts until it is given up. */
function endless(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

test('two who want a session get one start, and whoever comes after it another', async () => {
  const starts = new Starts(2, 'The agent');
  const begun: string[] = [];
  const start = async () => {
    begun.push('one');
    return session('a');
  };
  const [first, second] = [starts.begin('a', start), starts.begin('a', start)];
  expect(await Promise.all([first, second])).toEqual([session('a'), session('a')]);
  expect(begun).toHaveLength(1);
  await starts.begin('a', start);
  expect(begun).toHaveLength(2);
});

test('a start that is given up is refused with a code, and so is one that waits', async () => {
  const starts = new Starts(1, 'The agent');
  const both = Promise.allSettled([starts.begin('a', endless), starts.begin('b', endless)]);
  await starts.giveUp('b');
  expect(starts.sessionIds).toEqual(['a']);
  await starts.giveUp('a');
  expect(starts.sessionIds).toEqual([]);
  const reason = { code: 'SESSION_CREATE_FAILED', message: expect.stringContaining('was ended') };
  const refused = { status: 'rejected', reason: expect.objectContaining(reason) };
  expect(await both).toEqual([refused, refused]);
});

test('giving up what is not being started does nothing', async () => {
  const starts = new Starts(1, 'The agent');
  await starts.giveUp('a');
  expect(await starts.begin('a', async () => session('a'))).toEqual(session('a'));
});
