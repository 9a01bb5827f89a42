/** An agent that is started only to read its name and abilities. */
import { expect, test } from 'vitest';
import { readProcess } from '../../src/process/table.ts';
import { runAgent } from './running-agent.ts';

const limitMs = 60_000;

test('an agent reports its name and abilities and is ended, without a session', async () => {
  const authMethods = [
    { id: 'browser', name: 'Log in', description: 'Opens a browser.' },
    { id: 'key', name: 'Use a key', type: 'env_var', vars: [{ name: 'AGENT_KEY' }] },
  ];
  const { provider, control, calls } = await runAgent({ initialize: { authMethods } });

  expect(await provider.introduce(limitMs)).toEqual({
    name: 'Scripted agent',
    version: '1.0.0',
    protocol: 'ACP 1',
    abilities: ['load sessions', 'list sessions', 'take images'],
    signIn: ['Log in (Opens a browser.)', 'Use a key (set AGENT_KEY)'],
    problems: [],
  });

  await (
    await control.process()
  ).gone;
  expect(await calls()).toEqual(['initialize']);
});

test('INV-8: an agent that does not answer is ended with all its processes, and its output is reported', async () => {
  const { provider, control } = await runAgent({
    onStart: [
      { raw: 'Welcome! Type a question.' },
      { stderr: 'No terminal.' },
      { spawn: { detached: true } },
      { silence: true },
    ],
  });

  const introduced = provider.introduce(1_500);

  await expect(introduced).rejects.toThrow(/^The agent did not answer within 1\.5 s\. .*--acp/);
  await expect(introduced).rejects.toThrow(/Welcome! Type a question\.[^]*No terminal\./);
  await (
    await control.process()
  ).gone;
  const [child] = await control.children();
  expect(readProcess(child!)).toBeUndefined();
});

test('defaults that the agent does not have are reported, and the session for checking them is deleted', async () => {
  const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }] };
  const { provider, calls } = await runAgent(
    { session: { modes }, offers: { delete: true } },
    { provider: { defaults: { mode: 'code', config: { model: 'large' } } } },
  );

  expect((await provider.introduce(limitMs)).problems).toEqual([
    'A default in the configuration was left out. “code” is not a value of “mode”. Values: ask.',
    'A default in the configuration was left out. The agent has no option “model”. Options: mode.',
  ]);
  expect(await calls()).toEqual(['initialize', 'session/new', 'session/delete']);
});

test('an agent that requires a sign-in before it shows its options is reported', async () => {
  const { provider } = await runAgent(
    { needsAuth: true },
    { provider: { defaults: { mode: 'code' } } },
  );
  expect((await provider.introduce(limitMs)).problems).toEqual([
    'It wants you to sign in first. Its ways to sign in: Log in. Then try again.',
  ]);
});
