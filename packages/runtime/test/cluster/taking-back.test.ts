import { takenBack } from '@liminal/protocol';
import { expect, test, vi } from 'vitest';
import { Reader } from '../reader.ts';
import { startServers } from './servers.ts';

/** Every `rewoundTo` that a reader got, in ends of turns and in its history. */
function hasGoneTo(reader: Reader): unknown[] {
  const ends = reader.ofType('session:turn').map(({ payload }) => payload);
  const turns = reader.ofType('session:history').flatMap((message) => message.turns);
  return [...ends, ...turns].map((turn) => ('rewoundTo' in turn ? turn.rewoundTo : undefined));
}

test('turns are taken back through a server that does not own the session, and all servers show that', async () => {
  const servers = await startServers();
  const [owner, other] = [await servers.start(), await servers.start()];
  const { projectDir } = servers;
  const { sessionId } = await owner.runtime.createSession({ cliType: 'scripted', projectDir });
  const readers = [owner, other].map(({ runtime }) => new Reader(runtime, sessionId));
  const turns: string[] = [];
  for (const text of ['One.', 'Two.', 'Three.']) {
    turns.push((await owner.runtime.send(sessionId, text)).turnId);
    owner.agent.finish(sessionId);
    const isIdle = async () => (await owner.runtime.status(sessionId)).state === 'idle';
    await vi.waitUntil(isIdle, { timeout: 10_000 });
  }
  const [one = '', ...gone] = turns;
  const rewind = async (turnId = '', { runtime } = other) =>
    runtime.rewind(sessionId, turnId, { scope: 'conversation' });
  expect(await rewind(gone[0])).toMatchObject({ takenBack: { turnIds: gone, message: 'Two.' } });
  expect(owner.agent.takenBack).toEqual([gone]);
  for (const reader of readers) await reader.until((one) => hasGoneTo(one).includes(gone[0]));
  for (const { runtime } of [owner, other]) {
    const page = await runtime.history(sessionId);
    expect([...takenBack(page.turns).keys()].toReversed()).toEqual(gone);
  }
  await expect(rewind(gone[0])).rejects.toMatchObject({ code: 'TURN_TAKEN_BACK' });

  // Rewind through two servers at the same time: the slower call rejects.
  const held = Promise.withResolvers<void>();
  owner.agent.holdRewind = held.promise;
  const asked = [owner, other].map(async (server) =>
    rewind(one, server).then(
      () => 'done',
      (error) => error.code,
    ),
  );
  expect(await Promise.race(asked)).toBe('TURN_IN_PROGRESS');
  held.resolve();
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['TURN_IN_PROGRESS', 'done']));
  expect(owner.agent.takenBack).toEqual([gone, [one]]);
});
