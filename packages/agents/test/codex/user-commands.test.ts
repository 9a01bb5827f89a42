/** The user's own commands (`!ls`) with the real Codex. */
import { answer, codexEnvironment } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { CodexDriver } from '../../src/kinds/codex/index.ts';
import { Listener, messagesOf } from '../acp/running-agent.ts';
import { sharedCodex } from './running-codex.ts';

const share = sharedCodex();

test('a message that begins with ! runs as a command, and its output reaches the model with the next message', async () => {
  const { create, api, provider, workspace } = await share(() => [answer('Back.')]);
  const listener = await create();

  const response = await listener.ask('!echo one; echo two >&2; false');

  expect(response).toMatchObject({ status: 'complete', trigger: 'user' });
  expect(response.outputItems).toMatchObject([
    { type: 'message', content: '!echo one; echo two >&2; false', origin: 'user' },
    { type: 'function_call', kind: 'execute', title: 'Run echo one; echo two >&2; false' },
    { type: 'function_call_output', output: 'one\ntwo\n', success: false, exitCode: 1 },
  ]);
  expect(api.requests).toEqual([]);
  await listener.ask('Well then.');
  expect(JSON.stringify(api.requests[0]?.body.input)).toContain('echo one; echo two >&2; false');
  const stored = await provider.readStoredHistory(
    await listener.agentSessionId(),
    workspace.projectDir,
  );
  expect(stored[0]?.events.map(({ payload }) => payload)).toContainEqual(
    expect.objectContaining({
      finalItem: expect.objectContaining({
        origin: 'user',
        content: '!echo one; echo two >&2; false',
      }),
    }),
  );
});

test('the user’s own command is stored and shown as written, however Codex classifies it', async () => {
  const { create, provider, workspace } = await share(() => []);
  const listener = await create();
  const commands = [
    'ls',
    'echo one; ls -a',
    String.raw`printf '%s\n' "it's" "$HOME" | grep -c "x y" || true`,
    String.raw`echo a\ b 'c "d"' !`,
    'for n in 1 2; do\n  echo "$n"\ndone',
  ];
  for (const command of commands) {
    const response = await listener.ask(`!${command}`);
    const call = response.outputItems.find((item) => item.type === 'function_call');
    expect(call).toMatchObject({ kind: 'execute', title: expect.stringMatching(/^Run /) });
    expect(JSON.parse(call!.arguments)).toMatchObject({ command });
  }
  const stored = await provider.readStoredHistory(
    await listener.agentSessionId(),
    workspace.projectDir,
  );
  const prompts = stored.map(({ events }) =>
    events.flatMap(({ payload }) =>
      payload.type === 'item_done' && payload.finalItem.type === 'message'
        ? payload.finalItem.content
        : [],
    ),
  );
  expect(prompts).toEqual(commands.map((command) => [`!${command}`]));
});

test('stopping the user’s own command stops all of its processes, and the session accepts the next message', async () => {
  const { create, provider } = await share(() => [answer('Back.')]);
  const listener = await create();
  const turnId = await listener.send('!echo begun; sleep 600');
  await listener.until(() =>
    listener
      .of(turnId)
      .find(({ payload }) => 'deltaContent' in payload && payload.deltaContent.includes('begun')),
  );

  await provider.cancelTurn(listener.sessionId);

  expect((await listener.response(turnId)).status).toBe('aborted');
  expect(messagesOf(await listener.ask('Well then.'))).toContain('agent: Back.');
});

test('with userCommands off, a command is neither run nor sent', async () => {
  const { workspace, api } = await share(() => []);
  const inherited = codexEnvironment(workspace.home);
  const provider = new DriverProvider(new CodexDriver({ inherited, userCommands: false }));
  try {
    const listener = new Listener(provider, crypto.randomUUID());
    await provider.createSession({
      projectDir: workspace.projectDir,
      sessionId: listener.sessionId,
    });
    const response = await listener.ask('!touch made');
    expect(messagesOf(response).at(-1)).toContain('does not run people’s commands');
    expect(response.outputItems.map(({ type }) => type)).toEqual(['message', 'message']);
    expect(api.requests).toEqual([]);
  } finally {
    await provider.close();
  }
});
