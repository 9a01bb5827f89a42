/** Sessions of one agent that live in one process. */
import { expect, test } from 'vitest';
import { expectWholeTurn } from '../../src/testing/watch.ts';
import { runAgent, said } from './running-agent.ts';

const shared = { provider: { sharedProcess: true } };
const slow = { turns: [{ when: 'slow', steps: [{ say: 'Well ' }, { hang: true as const }] }] };

test('live in one process, each with its own turns', async () => {
  const { create, control } = await runAgent(slow, shared);
  const [one, other] = await Promise.all([create(), create()]);
  const turnId = await one.send('The slow one.');
  await one.event(turnId, 'item_delta');

  expect(said(await other.ask('Hi.'))).toEqual(['user: Hi.', 'agent: You said: Hi.']);

  expect(control.processes).toHaveLength(1);
  expect(new Set(one.events.map((event) => event.turnId))).toEqual(new Set([turnId]));
});

test('end one by one: each is closed, and the process goes with the last', async () => {
  const { create, control, provider } = await runAgent(slow, shared);
  const [one, other] = [await create(), await create()];
  const turnId = await one.send('The slow one.');

  await provider.killSession(one.sessionId);

  expectWholeTurn(await one.ended(turnId));
  const close = await control.until('session/close');
  expect(close.params['sessionId']).toBe(await one.agentSessionId());
  expect(one.exits).toEqual([{ expected: true }]);
  expect(said(await other.ask('Still there?'))).toContain('agent: You said: Still there?');
  expect(other.exits).toEqual([]);

  await provider.killSession(other.sessionId);
  await (
    await control.process()
  ).gone;
});

test('INV-2: all end their turns when their process crashes, and can be loaded into the next', async () => {
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
  expect(said(await listeners[0]!.ask('Back?'))).toContain('agent: You said: Back?');
  expect(control.processes).toHaveLength(2);
});

test('one that does not stop takes the process with it, as nothing else ends it', async () => {
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

test('one that cannot be opened leaves the others their process', async () => {
  const { create, control, provider, projectDir } = await runAgent({}, shared);
  const listener = await create();
  await expect(provider.loadSession('nobody', { projectDir })).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
  });
  expect(said(await listener.ask('Hi.'))).toContain('agent: You said: Hi.');
  expect(control.processes).toHaveLength(1);
});
