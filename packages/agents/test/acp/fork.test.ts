/**
 * Forks: an agent that offers `session/fork` copies a conversation, and Liminal opens the copy like any stored session.
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Listener, runAgent } from './running-agent.ts';

const turns = [{ steps: [{ say: 'Yes.' }] }];
const offers = { fork: true };

test('a session is forked by its own process; the copy is closed and can be opened', async () => {
  const { provider, control, create, projectDir } = await runAgent({ offers, turns });
  const original = await create();
  const { turnId } = await original.ask('One');
  const agentSessionId = await original.agentSessionId();

  const fork = await provider.fork(agentSessionId, projectDir, turnId);

  expect(fork).toEqual({ agentSessionId: expect.any(String), copies: new Map(), left: new Set() });
  expect(fork.agentSessionId).not.toBe(agentSessionId);
  expect(control.processes).toHaveLength(1);
  const closed = await control.until(({ method }) => method === 'session/close');
  expect(closed.params).toEqual({ sessionId: fork.agentSessionId });
  const copy = new Listener(provider, randomUUID());
  await provider.loadSession(copy.sessionId, {
    projectDir,
    agentSessionId: fork.agentSessionId!,
  });
  expect(await copy.agentSessionId()).toBe(fork.agentSessionId);
  expect(await copy.ask('Two')).toMatchObject({ status: 'complete' });
  expect(await original.ask('Three')).toMatchObject({ status: 'complete' });
});

test('a session that is not open is forked by a separate process, which ends before the copy is opened', async () => {
  const running = await runAgent({ offers, turns });
  const { another, control, create, projectDir } = running;
  const original = await create();
  const { turnId } = await original.ask('One');
  const agentSessionId = await original.agentSessionId();
  const provider = another();

  const { agentSessionId: made } = await provider.fork(agentSessionId, projectDir, turnId);
  const asked = control.processes.at(-1)!;
  expect(control.processes).toHaveLength(2);
  const copy = new Listener(provider, randomUUID());
  await provider.loadSession(copy.sessionId, { projectDir, agentSessionId: made! });
  await asked.gone;
  expect(await copy.ask('Two')).toMatchObject({ status: 'complete' });
});

test('whether an agent can fork is known once it has answered', async () => {
  const { provider, create } = await runAgent({ offers, turns });
  expect(await provider.describe()).not.toHaveProperty('forks');
  await create();
  expect(await provider.describe()).toMatchObject({ forks: true, forksWhole: true });
});

test.each([
  ['does not offer it', {}],
  ['cannot open the copy', { fork: true, load: false }],
])(
  'an agent that %s is not listed as able to fork, and a fork is refused with that reason',
  async (_case, can) => {
    const { provider, create, projectDir } = await runAgent({ offers: can, turns });
    const original = await create();
    const { turnId } = await original.ask('One');
    expect(await provider.describe()).not.toHaveProperty('forks');
    const agentSessionId = await original.agentSessionId();
    await expect(provider.fork(agentSessionId, projectDir, turnId)).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
      message: 'Scripted cannot fork its sessions. Start a new session.',
    });
  },
);

test.each([
  [
    { error: { code: -32603, message: 'The disk is full' } },
    'PROTOCOL_ERROR',
    /did not fork the session\. The disk is full/,
  ],
  [{ error: { code: -32002, message: 'None' } }, 'SESSION_NOT_FOUND', /does not have this session/],
  [{ result: {} }, 'PROTOCOL_ERROR', /answer to “session\/fork” names no session/],
])('a fork that the agent answers with %j reports why it failed', async (step, code, message) => {
  const on = { 'session/fork': [step] };
  const { provider, create, projectDir } = await runAgent({ offers, turns, on });
  const original = await create();
  const { turnId } = await original.ask('One');
  await expect(
    provider.fork(await original.agentSessionId(), projectDir, turnId),
  ).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});
