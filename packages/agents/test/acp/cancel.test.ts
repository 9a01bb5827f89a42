import type { AgentScript } from '@liminal/testkit';
import { describe, expect, test } from 'vitest';
import { expectWholeTurn } from '../../src/testing/watch.ts';
import { runAgent, messagesOf } from './running-agent.ts';

const slow: AgentScript = {
  turns: [
    { when: 'slow', steps: [{ say: 'Well ' }, { hang: true }] },
    { steps: [{ say: 'Quick.' }] },
  ],
};

describe.each(['cancelled', 'end_turn', 'error'] as const)(
  'answers to a cancelled prompt: %s',
  (cancel) => {
    test('TC-3.4a, INV-2, INV-3: a cancelled turn ends as cancelled, and the agent continues with the next turn', async () => {
      const { create, provider } = await runAgent({ ...slow, cancel });
      const listener = await create();
      const turnId = await listener.send('The slow one.');
      await listener.event(turnId, 'item_delta');

      await provider.cancelTurn(listener.sessionId);

      const events = await listener.ended(turnId);
      expectWholeTurn(events);
      expect(events.at(-1)?.payload).toMatchObject({ type: 'response_done', status: 'cancelled' });
      expect(events.map(({ type }) => type)).toContain('turn_aborted_by_user');
      expect(messagesOf(await listener.ask('Another.'))).toEqual([
        'user: Another.',
        'agent: Quick.',
      ]);
    });
  },
);

describe('agents that do not stop', () => {
  test('INV-2: if an agent does not stop, its turn is ended at the limit, and its late answer and updates are ignored', async () => {
    const { create, provider, control } = await runAgent(
      {
        turns: [
          {
            when: 'slow',
            cancel: 'ignore',
            steps: [{ say: 'Well ' }, { gate: 'late' }, { say: 'too late' }],
          },
          { steps: [{ say: 'Quick.' }] },
        ],
      },
      { provider: { cancelLimitMs: 2_000 } },
    );
    const listener = await create();
    const turnId = await listener.send('The slow one.');
    await listener.event(turnId, 'item_delta');

    await provider.cancelTurn(listener.sessionId);
    const events = await listener.ended(turnId);
    expect(events.at(-1)?.payload).toMatchObject({ status: 'cancelled' });
    const next = listener.send('Another.');
    control.open('late');

    expect(messagesOf(await listener.response(await next))).toEqual([
      'user: Another.',
      'agent: Quick.',
    ]);
    expectWholeTurn(await listener.ended(turnId));
    expect(messagesOf(await listener.response(turnId))).not.toContain('too late');
    expect(new Set(listener.events.map((one) => one.turnId)).size).toBe(2);
  });

  test('an agent that does not stop is ended after twice the limit; the session and a waiting message report this', async () => {
    const { create, provider, control } = await runAgent(
      { ...slow, cancel: 'never' },
      { provider: { cancelLimitMs: 200 } },
    );
    const listener = await create();
    const turnId = await listener.send('The slow one.');
    await listener.event(turnId, 'item_delta');
    await provider.cancelTurn(listener.sessionId);
    await listener.ended(turnId);

    await expect(listener.send('Another.')).rejects.toMatchObject({ code: 'PROCESS_CRASH' });

    const exit = await listener.until(() => listener.exits[0]);
    expect(exit).toMatchObject({
      expected: false,
      message: expect.stringContaining('did not stop'),
    });
    await (
      await control.process()
    ).gone;
  });

  test('the session of an agent that does not stop can be killed before the limit', async () => {
    const { create, provider, control } = await runAgent({ ...slow, cancel: 'never' });
    const listener = await create();
    const turnId = await listener.send('The slow one.');
    await provider.cancelTurn(listener.sessionId);
    await provider.killSession(listener.sessionId);
    expectWholeTurn(await listener.ended(turnId));
    await (
      await control.process()
    ).gone;
  });
});

test('cancelling notifies the agent, and answers its open questions with cancelled', async () => {
  const ask = {
    toolCall: { toolCallId: 'call', title: 'Do it' },
    options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
  };
  const { create, provider, control } = await runAgent({
    // The agent stops only when its questions are answered.
    cancel: 'ignore',
    turns: [
      {
        steps: [
          {
            request: { method: 'session/request_permission', params: ask, wait: false, id: 'one' },
          },
          { request: { method: 'session/request_permission', params: ask, id: 'two' } },
        ],
      },
    ],
  });
  const listener = await create();
  const turnId = await listener.send('Ask.');
  await listener.until(() => listener.upserts.filter(({ type }) => type === 'approval').length > 1);

  await provider.cancelTurn(listener.sessionId);

  await control.until('session/cancel');
  const cancelled = { outcome: { outcome: 'cancelled' } };
  for (const id of ['one', 'two']) {
    const answer = await control.until((message) => message.id === id);
    expect(answer.result).toEqual(cancelled);
  }
  expectWholeTurn(await listener.ended(turnId));
});

test('cancelling twice, or without a running turn, has no effect', async () => {
  const { create, provider, calls } = await runAgent(slow);
  const listener = await create();
  await provider.cancelTurn(listener.sessionId);
  const turnId = await listener.send('The slow one.');
  await Promise.all([
    provider.cancelTurn(listener.sessionId),
    provider.cancelTurn(listener.sessionId),
  ]);
  const events = await listener.ended(turnId);
  expect(events.filter(({ type }) => type === 'turn_aborted_by_user')).toHaveLength(1);
  expect(messagesOf(await listener.ask('Another.'))).toContain('agent: Quick.');
  const prompts = (await calls()).filter((method) => method === 'session/prompt');
  expect(prompts).toHaveLength(2);
});
