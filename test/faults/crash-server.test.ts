import { testAtLength } from '@liminal/testkit/at-length';
import { byPrompt, gate, held, reply, text } from '@liminal/testkit';
import type { OutputItem } from '@liminal/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { length, patience, seed } from './length.ts';
import { shareServer } from './server.ts';

const words = Array.from({ length: 2_000 }, (_, index) => `word${index}`).join(' ');

const shared = shareServer(() => ({
  script: byPrompt({
    'Talk.': [reply(text([words, gate()], { chunk: 12, delayMs: 4 }))],
    'Begin.': [held(gate(), reply('Too late.'))],
    'Go on.': [reply('Here I am.')],
  }),
}));

/** How many characters a reader has seen when the server is killed. */
const moments = fc.sample(fc.nat(3_000), { seed, numRuns: length.serverCrashes });

test(
  `INV-6 INV-8 if a server is killed during a turn, everything that was shown is kept, the turn ends, and the session continues (${length.serverCrashes} times, seed ${seed})`,
  { timeout: patience(length.serverCrashes) },
  async () => {
    const { faults, sessionId } = shared;
    const turnIds: string[] = [];
    for (const moment of moments) {
      const reader = await faults.follow(sessionId);
      const { turnId } = await faults.requests.send(sessionId, 'Talk.');
      await reader.until(() => reader.agentText(turnId).length >= moment);
      await faults.server.crash();
      await reader.closed.promise;
      // Restart the server at once, while the killed server's guard is still ending the agent's processes.
      await faults.server.restart();
      await expect.poll(() => faults.others, { timeout: 30_000 }).toEqual([]);

      const stored = await faults.run(turnId);
      expect(stored).toMatchObject({ status: 'error', error: { code: 'OWNER_LOST' } });
      const said = stored.outputItems.map(agentTextOf).join('');
      expect(words.startsWith(said)).toBe(true);
      expect(said.startsWith(reader.agentText(turnId))).toBe(true);
      expect(stored.outputItems[0]).toMatchObject({ origin: 'user', content: 'Talk.' });

      turnIds.push(turnId);
      const late = await faults.follow(sessionId);
      expect(late.turns.map((turn) => turn.turnId)).toEqual(turnIds);
      expect(late.agentText(turnId)).toBe(said);
      late.close();
    }
    const reader = await faults.follow(sessionId);
    const { turnId } = await faults.requests.send(sessionId, 'Go on.');
    expect(await reader.ended(turnId)).toMatchObject({ status: 'complete' });
    expect(reader.agentText(turnId)).toBe('Here I am.');
  },
);

testAtLength(
  'INV-2 after a power cut in a session’s first turn, before the agent has stored any data, the session continues',
  async () => {
    const { faults } = shared;
    const sessionId = await faults.create();
    const { turnId: lost } = await faults.requests.send(sessionId, 'Begin.');
    await faults.census.endAll();
    await faults.server.restart();

    expect(await faults.run(lost)).toMatchObject({
      status: 'error',
      error: { code: 'OWNER_LOST' },
    });
    const reader = await faults.follow(sessionId);
    const { turnId } = await faults.requests.send(sessionId, 'Go on.');
    expect(await reader.ended(turnId)).toMatchObject({ status: 'complete' });
    expect(reader.agentText(turnId)).toBe('Here I am.');
  },
);

/** Returns the agent's text in an item. */
function agentTextOf(item: OutputItem): string {
  return item.type === 'message' && item.origin === 'agent' ? item.content : '';
}
