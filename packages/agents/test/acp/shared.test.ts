/** The sessions of an agent whose sessions share one process. */
import { expect, test } from 'vitest';
import { expectWholeTurn } from '../../src/testing/watch.ts';
import { runAgent, messagesOf } from './running-agent.ts';

const shared = { provider: { sharedProcess: true } };
const slow = { turns: [{ when: 'slow', steps: [{ say: 'Well ' }, { hang: true as const }] }] };

test('sessions share one process, each with its own turns', async () => {
  const { create, control } = await runAgent(slow, shared);
  const [one, other] = await Promise.all([create(), create()]);
  const turnId = await one.send('The slow one.');
  await one.event(turnId, 'item_delta');

  expect(messagesOf(await other.ask('Hi.'))).toEqual(['user: Hi.', 'agent: You said: Hi.']);

  expect(control.processes).toHaveLength(1);
  expect(new Set(one.events.map((event) => event.turnId))).toEqual(new Set([turnId]));
});

test('sessions are closed one by one, and the process ends with the last', async () => {
  const { create, control, provider } = await runAgent(slow, shared);
  const [one, other] = [await create(), await create()];
  const turnId = await one.send('The slow one.');

  await provider.killSession(one.sessionId);

  expectWholeTurn(await one.ended(turnId));
  const close = await control.until('session/close');
  expect(close.params['sessionId']).toBe(await one.agentSessionId());
  expect(one.exits).toEqual([{ expected: true }]);
  expect(messagesOf(await other.ask('Still there?'))).toContain('agent: You said: Still there?');
  expect(other.exits).toEqual([]);

  await provider.killSession(other.sessionId);
  await (
    await control.process()
  ).gone;
});

test('INV-2: when the process crashes, all turns end, and the sessions can be loaded in the next process', async () => {
  const { create, control, provider } = await runAgent(slow, shared);
  const listeners = [await create(), await create()];
  const turnIds = await Promise.all(listeners.map((one) => one.send('The slow one.')));
  await Promise.all(listeners.map((one, at) => one.event(turnIds[at]!, 'item_delta')));

  await control.crash();

  for (const [at, listener] of listeners.entries()) {
    const response = await listener.response(turnIds[at]!);
    expect(response.error).toMatchObject({ code: 'PROCESS_CRASH' });
    await listener.until(() => listener.exits[0]);
  }
  await Promise.all(listeners.map(({ sessionId }) => provider.loadSession(sessionId)));
  expect(messagesOf(await listeners[0]!.ask('Back?'))).toContain('agent: You said: Back?');
  expect(control.processes).toHaveLength(2);
});

test('a session that does not stop is ended by ending the shared process', async () => {
  const { create, control, provider } = await runAgent(
    { ...slow, cancel: 'never' },
    { provider: { sharedProcess: true, cancelLimitMs: 100 } },
  );
  const [one, other] = [await create(), await create()];
  const turnId = await one.send('The slow one.');
  await one.event(turnId, 'item_delta');
  await provider.cancelTurn(one.sessionId);
  await (
    await control.process()
  ).gone;
  expect(await other.until(() => other.exits[0])).toMatchObject({ expected: false });
});

test('a session that cannot be opened does not end the others’ process', async () => {
  const { create, control, provider, projectDir } = await runAgent({}, shared);
  const listener = await create();
  await expect(provider.loadSession('nobody', { projectDir })).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
  });
  expect(messagesOf(await listener.ask('Hi.'))).toContain('agent: You said: Hi.');
  expect(control.processes).toHaveLength(1);
});
