import { setTimeout } from 'node:timers/promises';
import { byPrompt, gate, reply, text, toolUse } from '@liminal/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { length, patience, seed } from './length.ts';
import { shareServer } from './server.ts';

const shared = shareServer(() => ({
  script: byPrompt({
    'Go on.': [reply('Here I am.')],
    'Wait.': [reply(text(['I wait', gate(), ' no more.']))],
    'Work.': [reply([text('I work.'), toolUse('Bash', { command: 'tail -f /dev/null' })])],
    'Talk.': [reply(text('word '.repeat(300), { chunk: 5, delayMs: 3 }))],
  }),
}));

test('INV-2 if a turn is cancelled twice at the same time, it ends once; if no turn runs, a cancel does nothing', async () => {
  const { faults, sessionId } = shared;
  const { cancel, send } = faults.requests;
  const reader = await faults.follow(sessionId);
  // Before any turn.
  await cancel(sessionId);

  for (const [message, said] of [
    ['Wait.', 'I wait'],
    ['Work.', 'I work.'],
  ] as const) {
    const { turnId } = await send(sessionId, message);
    await reader.until(() => reader.agentText(turnId) === said);
    await Promise.all([cancel(sessionId), cancel(sessionId), cancel(sessionId)]);
    expect(await reader.ended(turnId)).toMatchObject({ status: 'aborted' });
    // Cancel again after the turn has ended. Nothing must change.
    await cancel(sessionId);
    expect(reader.agentText(turnId)).toBe(said);

    const next = await send(sessionId, 'Go on.');
    expect(await reader.ended(next.turnId)).toMatchObject({ status: 'complete' });
    expect(reader.agentText(next.turnId)).toBe('Here I am.');
    expect([reader.ends(turnId), reader.ends(next.turnId)]).toEqual([
      ['turn_complete'],
      ['turn_complete'],
    ]);
  }

  await expect(cancel('nobody')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});

/** When a turn is cancelled, and when it is cancelled again, in ms after its message was sent. */
const races = fc.sample(fc.tuple(fc.nat(400), fc.nat(100)), {
  seed,
  numRuns: length.races,
});

test(
  `INV-2 if a turn is cancelled at any moment, it ends once, as cancelled (${length.races} times, seed ${seed}); without an agent, a cancel does nothing`,
  { timeout: patience(length.races) },
  async () => {
    const { faults, sessionId } = shared;
    const reader = await faults.follow(sessionId);
    for (const [first, second] of races) {
      const sending = faults.requests.send(sessionId, 'Talk.');
      await setTimeout(first);
      await faults.requests.cancel(sessionId);
      await setTimeout(second);
      await faults.requests.cancel(sessionId);
      const { turnId } = await sending;
      const turn = await reader.ended(turnId);
      expect({ first, second, status: turn.status }).toEqual({ first, second, status: 'aborted' });
      const next = await faults.requests.send(sessionId, 'Go on.');
      await reader.ended(next.turnId);
      expect(reader.agentText(next.turnId)).toBe('Here I am.');
      expect(reader.ends(turnId)).toEqual(['turn_complete']);
    }
    await faults.requests.kill(sessionId);
    await faults.requests.cancel(sessionId);
    expect(faults.others).toEqual([]);
  },
);
