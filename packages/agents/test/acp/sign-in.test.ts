import { expect, test } from 'vitest';
import { runAgent, messagesOf } from './running-agent.ts';

const authMethods = [
  { id: 'browser', name: 'Log in with a browser', description: 'Opens one.' },
  { id: 'key', name: 'Use AGENT_KEY', type: 'env_var', vars: [{ name: 'AGENT_KEY' }] },
];

test('a session of an agent that requires a sign-in is refused, naming the ways to sign in', async () => {
  const { provider, projectDir, control, calls } = await runAgent(
    { needsAuth: true, initialize: { authMethods } },
    { provider: { inherited: { ...process.env, AGENT_KEY: '' } } },
  );
  await expect(provider.createSession({ projectDir })).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: expect.stringContaining(
      'Scripted wants you to sign in first. Its ways to sign in: Log in with a browser (Opens one.); Use AGENT_KEY (set AGENT_KEY). Then try again.',
    ),
  });
  await (
    await control.process()
  ).gone;
  expect(await calls()).not.toContain('authenticate');
});

test('a key in the environment is used if the agent has a method for it', async () => {
  const { create, control } = await runAgent(
    { needsAuth: true, initialize: { authMethods } },
    { provider: { env: { AGENT_KEY: 'secret' } } },
  );
  const listener = await create();
  const authenticate = await control.until('authenticate');
  expect(authenticate.params).toEqual({ methodId: 'key' });
  expect(messagesOf(await listener.ask('Hi.'))).toContain('agent: You said: Hi.');
});

test.each([
  [{ message: 'Run agent login first' }, 'It says: Run agent login first. Its ways'],
  [
    { message: 'Authentication required', data: { message: 'Your login has expired.' } },
    'It says: Authentication required: Your login has expired. Its ways',
  ],
])('the agent’s own message about the sign-in is quoted: %j', async (said, quoted) => {
  const { provider, projectDir } = await runAgent({
    initialize: { authMethods },
    on: { 'session/new': [{ error: { code: -32000, ...said } }] },
  });
  await expect(provider.createSession({ projectDir })).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: expect.stringContaining(quoted),
  });
});

test('a turn that fails for lack of a sign-in names the ways to sign in', async () => {
  const error = { code: -32000, message: 'Authentication required' };
  const { create } = await runAgent({
    initialize: { authMethods },
    turns: [{ steps: [{ error }] }],
  });
  const listener = await create();
  expect((await listener.ask('Hi.')).error).toMatchObject({
    code: 'AUTH_REQUIRED',
    message: expect.stringContaining('Log in with a browser'),
  });
});

test.each([
  ['The model is away.', 'Internal error: The model is away.'],
  [
    { message: 'The model is away.', codex_error_info: 'other' },
    'Internal error: The model is away.',
  ],
  [{ details: 'No disk.' }, 'Internal error: No disk.'],
  [{ odd: [1] }, 'Internal error: {"odd":[1]}'],
  [undefined, 'Internal error'],
])('an error’s data %j is shown', async (data, shown) => {
  const error = { code: -32603, message: 'Internal error', ...(data !== undefined && { data }) };
  const { create } = await runAgent({ turns: [{ steps: [{ error }] }] });
  const listener = await create();
  expect((await listener.ask('Hi.')).error).toEqual({
    code: 'AGENT_ERROR',
    message: `Scripted could not continue. ${shown}`,
  });
});

test.each([
  ['no answer', {}],
  ['both', { result: {}, error: {} }],
  ['an error that is not an object', { error: 'no' }],
])('INV-2: an answer that is %s ends the turn as an error', async (_name, answer) => {
  const { create, control } = await runAgent({ turns: [{ steps: [{ hang: true }] }] });
  const listener = await create();
  const turnId = await listener.send('Hi.');
  const { id } = await control.until('session/prompt');
  control.write({ jsonrpc: '2.0', id, ...answer });
  expect((await listener.response(turnId)).error).toMatchObject({ code: 'AGENT_ERROR' });
});
