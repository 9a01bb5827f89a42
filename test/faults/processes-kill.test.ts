import { setTimeout } from 'node:timers/promises';
import { testAtLength } from '@liminal/testkit/at-length';
import { ApiError } from '@liminal/client';
import { byPrompt, gate, reply, text, toolUse } from '@liminal/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { length, patience, seed } from './length.ts';
import type { SessionReader } from './session-reader.ts';
import { type FaultServer, shareServer } from './server.ts';

const shared = shareServer(() => ({
  script: byPrompt({
    'Wait.': [reply(text(['I wait', gate(), ' no more.']))],
    'Ask.': [reply([text('May I?'), toolUse('Bash', { command: 'touch here' })])],
    'Talk.': [reply(text('word '.repeat(300), { chunk: 5, delayMs: 3 }))],
    'Go on.': [reply('Here I am.')],
  }),
}));

/** Returns the agent's answer to a message. If needed, a new process of the agent is started. */
async function ask(faults: FaultServer, sessionId: string, reader: SessionReader): Promise<string> {
  const { turnId } = await faults.requests.send(sessionId, 'Go on.');
  await reader.ended(turnId);
  return reader.agentText(turnId);
}

/** Returns the outcome of sending a message: the end of the message's turn, or the code of an error. */
async function outcome(
  sending: Promise<{ turnId: string }>,
  reader: SessionReader,
): Promise<string> {
  try {
    const { turnId } = await sending;
    const { status } = await reader.ended(turnId);
    return `${status} ${reader.ends(turnId).length}`;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

/** The possible outcomes of a message if the session is ended. */
const ends = ['complete 1', 'aborted 1'];
const refusals = ['PROCESS_CRASH', 'SESSION_CREATE_FAILED'];

/**
 * When the session is ended, in ms after a message was sent (negative: before it was sent), and whether the agent is
 * running at that time. A running agent takes a message within 150 ms.
 */
const offset = fc.oneof(fc.integer({ min: -100, max: 900 }), fc.integer({ min: 0, max: 150 }));
const races = fc.sample(fc.record({ offset, runs: fc.boolean() }), {
  seed,
  numRuns: length.races,
});

test(
  `INV-2 INV-8 if a session is ended while a message is being sent, no process is left, and neither request hangs (${length.races} times, seed ${seed})`,
  { timeout: patience(length.races) },
  async () => {
    const { faults, sessionId } = shared;
    const reader = await faults.follow(sessionId);
    const before = reader.turns.length;
    const refused: string[] = [];
    for (const { offset, runs } of races) {
      if (!runs) await faults.requests.kill(sessionId);
      const send = async () => {
        await setTimeout(Math.max(0, -offset));
        return faults.requests.send(sessionId, 'Talk.');
      };
      const kill = async () => {
        await setTimeout(Math.max(0, offset));
        await faults.requests.kill(sessionId);
      };
      const [ended] = await Promise.all([outcome(send(), reader), kill()]);
      expect([...ends, ...refusals]).toContain(ended);
      if (refusals.includes(ended)) refused.push(ended);
      expect(await ask(faults, sessionId, reader)).toBe('Here I am.');
    }
    // The rejected message must not have become a turn later.
    expect(reader.turns).toHaveLength(before + 2 * races.length - refused.length);
    await faults.requests.kill(sessionId);
    expect(faults.others).toEqual([]);
  },
);

testAtLength(
  'INV-2 INV-8 if a session is ended twice at the same time, its turn ends once, and a third request to end the session also succeeds',
  async () => {
    const { faults, sessionId } = shared;
    const reader = await faults.follow(sessionId);
    const { turnId } = await faults.requests.send(sessionId, 'Wait.');
    await reader.until(() => reader.agentText(turnId) === 'I wait');
    const queued = await faults.requests.send(sessionId, 'Talk.');
    await Promise.all([faults.requests.kill(sessionId), faults.requests.kill(sessionId)]);
    expect(faults.others).toEqual([]);
    expect(await reader.ended(turnId)).toMatchObject({ status: 'aborted' });
    expect(reader.ends(turnId)).toEqual(['turn_complete']);
    expect(reader.agentText(turnId)).toBe('I wait');
    await faults.requests.kill(sessionId);
    expect(await faults.requests.status(sessionId)).toMatchObject({ isAlive: false });

    // The queued message waits until the next message is sent, and is sent before it.
    expect(await ask(faults, sessionId, reader)).toBe('Here I am.');
    expect(reader.turn(queued.turnId)).toMatchObject({ status: 'complete' });

    // End the session again. Now no process of it runs.
    await faults.requests.kill(sessionId);
    expect(faults.others).toEqual([]);
    expect(await ask(faults, sessionId, reader)).toBe('Here I am.');
    await expect(faults.requests.kill('nobody')).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  },
);

testAtLength(
  'INV-3 if a session is ended while it waits for a permission, the permission request is withdrawn',
  async () => {
    const { faults, sessionId } = shared;
    const reader = await faults.follow(sessionId);
    const { turnId } = await faults.requests.send(sessionId, 'Ask.');
    const { approvalId } = await reader.approval(turnId);
    await faults.requests.kill(sessionId);
    const { status, items } = await reader.ended(turnId);
    expect(status).toBe('aborted');
    expect(items.find(({ type }) => type === 'approval')).toMatchObject({
      status: 'complete',
      outcome: { outcome: 'cancelled' },
    });
    const answer = faults.requests.answerApproval(sessionId, approvalId, {
      optionId: 'allow_once',
    });
    await expect(answer).rejects.toMatchObject({ code: 'APPROVAL_ALREADY_ANSWERED' });
    expect(faults.others).toEqual([]);
    expect(await ask(faults, sessionId, reader)).toBe('Here I am.');
  },
);

test('INV-8 if two clients start a session at the same time, there is only one agent', async () => {
  const { faults, sessionId } = shared;
  const reader = await faults.follow(sessionId);
  await faults.requests.kill(sessionId);
  const [{ turnId }] = await Promise.all([
    faults.requests.send(sessionId, 'Go on.'),
    faults.requests.loadSession(sessionId),
    faults.requests.loadSession(sessionId),
  ]);
  await reader.ended(turnId);
  expect(faults.others).toHaveLength(1);
  await faults.requests.kill(sessionId);
  expect(faults.others).toEqual([]);
});
