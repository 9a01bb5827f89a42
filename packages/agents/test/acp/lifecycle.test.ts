import { randomUUID } from 'node:crypto';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { expect, test, vi } from 'vitest';
import { readProcess } from '../../src/process/table.ts';
import { coded } from '../../src/testing/subject.ts';
import { expectWholeTurn } from '../../src/testing/watch.ts';
import { Listener, runAgent, messagesOf } from './running-agent.ts';

const isRunning = (pid: number): boolean => readProcess(pid) !== undefined;

const names = { cliType: 'scripted', name: 'Scripted', description: 'Plays a script.' };

test('a session begins with initialize and session/new, and reports the agent’s own id, settings and commands', async () => {
  const commands = [{ name: 'review', description: 'Look.', input: { hint: 'what' } }];
  const { create, control, projectDir, calls } = await runAgent({
    session: {
      modes: { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }] },
    },
    on: {
      'session/new': [
        { answer: true },
        { update: { sessionUpdate: 'available_commands_update', availableCommands: commands } },
      ],
    },
  });
  const listener = await create();

  const initialize = await control.until('initialize');
  const begin = await control.until('session/new');
  expect(initialize.params).toMatchObject({
    protocolVersion: 1,
    clientInfo: { name: 'liminal' },
    clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: true,
      elicitation: { form: {}, url: {} },
    },
  });
  expect(begin.params).toEqual({ cwd: projectDir, mcpServers: [] });
  await listener.until(() => listener.updates.find((update) => update.commands));
  expect(Object.assign({}, ...listener.updates)).toMatchObject({
    agentSessionId: expect.any(String),
    configOptions: [{ id: 'mode', currentValue: 'ask' }],
    commands: [{ name: 'review', hint: 'what' }],
  });
  expect(await calls()).toEqual(['initialize', 'session/new', 'session/close']);
});

test('updates of a session that arrive before the session’s id are not lost', async () => {
  const commands = [{ name: 'early', description: 'Early.' }];
  const { create } = await runAgent({
    on: {
      'session/new': [
        {
          message: {
            jsonrpc: '2.0',
            method: 'session/update',
            params: {
              sessionId: 'early-bird',
              update: { sessionUpdate: 'available_commands_update', availableCommands: commands },
            },
          },
        },
        { result: { sessionId: 'early-bird' } },
      ],
    },
  });
  const listener = await create();
  const told = await listener.until(() => listener.updates.find((update) => update.commands));
  expect(told.commands).toEqual(commands);
});

testAtLength(
  'only a limited number of updates before the id are kept, and the rest are counted',
  async () => {
    const times = atLength ? 20 : 5;
    const update = { sessionUpdate: 'hologram', x: 'x'.repeat(1_500_000) };
    const message = {
      jsonrpc: '2.0',
      method: 'session/update',
      params: { sessionId: 'early-bird', update },
    };
    const { create } = await runAgent({
      on: {
        'session/new': [
          { repeat: { times, steps: [{ message }] } },
          { result: { sessionId: 'early-bird' } },
        ],
        'session/prompt': [
          {
            update: {
              sessionUpdate: 'agent_message_chunk',
              content: { type: 'text', text: 'Hi.' },
            },
          },
          { result: { stopReason: 'end_turn' } },
        ],
      },
    });
    const response = await (await create()).ask('Hi.');
    const raw = response.outputItems.flatMap((item) => item.raw ?? []);
    expect(raw).toEqual([update, update, { omitted: times - 2 }]);
  },
);

test('a missing program is named, and so is a missing folder', async () => {
  const { provider, projectDir, another } = await runAgent();
  await expect(provider.createSession({ projectDir: `${projectDir}/no` })).rejects.toMatchObject(
    coded('SESSION_CREATE_FAILED'),
  );
  const missing = another({ command: 'no-such-agent-program' });
  await expect(missing.createSession({ projectDir })).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: expect.stringContaining('“no-such-agent-program”'),
  });
  expect(await missing.describe()).toMatchObject({
    available: false,
    reason: expect.stringContaining('no-such-agent-program'),
  });
});

test('an agent that exits at its start has its error output reported', async () => {
  const { provider, projectDir } = await runAgent({
    onStart: [{ stderr: 'The licence has run out.\n' }, { exit: { code: 3 } }],
  });
  await expect(provider.createSession({ projectDir })).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: expect.stringMatching(/exited with code 3.*The licence has run out/s),
  });
});

test('an agent that must not use files through Liminal is not offered them', async () => {
  const { create, control } = await runAgent({}, { provider: { files: false } });
  await create();
  const { params } = await control.until('initialize');
  expect(params['clientCapabilities']).toMatchObject({
    fs: { readTextFile: false, writeTextFile: false },
    terminal: true,
  });
});

testAtLength('an agent that does not answer initialize is ended at the limit', async () => {
  const { provider, projectDir, control } = await runAgent(
    { on: { initialize: [{ hang: true }] } },
    { provider: { startLimitMs: 4_000 } },
  );
  await expect(provider.createSession({ projectDir })).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: expect.stringMatching(/did not answer within 4 s\. .*--acp.*startLimitMs/),
  });
  await (
    await control.process()
  ).gone;
});

test('an agent that is started with “acp” gets no hint to add “acp”', async () => {
  const { provider, projectDir } = await runAgent(
    { on: { initialize: [{ hang: true }] } },
    { provider: { startLimitMs: 500 }, nodeArgs: ['--title=agent-acp'] },
  );
  await expect(provider.createSession({ projectDir })).rejects.toMatchObject({
    message: expect.stringMatching(/did not answer within 0.5 s\. If the agent is slow to start/),
  });
});

test('an agent that does not answer session/new is ended at the limit', async () => {
  const { provider, projectDir, control } = await runAgent(
    { on: { 'session/new': [{ hang: true }] } },
    { provider: { openLimitMs: 1_000 } },
  );
  await expect(provider.createSession({ projectDir })).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: expect.stringMatching(/no session within 1 s\. .*“openLimitMs”/),
  });
  await (
    await control.process()
  ).gone;
});

test('killing a session that is still starting ends its process at once', async () => {
  const { provider, projectDir, control } = await runAgent({
    on: { initialize: [{ hang: true }] },
  });
  const sessionId = randomUUID();
  const creating = provider.createSession({ projectDir, sessionId });
  creating.catch(() => undefined);
  const started = await control.process();
  await provider.killSession(sessionId);
  await started.gone;
  await expect(creating).rejects.toMatchObject(coded('SESSION_CREATE_FAILED'));
  expect(provider.isAlive(sessionId)).toBe(false);
});

test.each(['initialize', 'session/new'])('an invalid answer to %s is refused', async (method) => {
  const { provider, projectDir } = await runAgent({ on: { [method]: [{ result: { odd: 1 } }] } });
  await expect(provider.createSession({ projectDir })).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: expect.stringContaining(`The agent’s answer to “${method}”`),
  });
});

test('an agent of another protocol version is refused', async () => {
  const { provider, projectDir } = await runAgent({ initialize: { protocolVersion: 2 } });
  await expect(provider.createSession({ projectDir })).rejects.toMatchObject({
    code: 'SESSION_CREATE_FAILED',
    message: expect.stringContaining('version 2'),
  });
});

test('TC-3.4b, INV-8: killing a session ends all processes of its agent: detached, ignoring signals or holding pipes', async () => {
  const { create, control, provider } = await runAgent({
    outlivesStdin: true,
    ignoresTerm: true,
    turns: [
      {
        steps: [
          { spawn: {} },
          { spawn: { detached: true } },
          { spawn: { detached: true, ignoresTerm: true, holdsStdout: true } },
          { say: 'Started.' },
          { hang: true },
        ],
      },
    ],
  });
  const listener = await create();
  const turnId = await listener.send('Start things.');
  const children = await control.children(3);
  const { pid } = await control.process();
  await listener.event(turnId, 'item_delta');

  await provider.killSession(listener.sessionId);

  expect([pid, ...children].filter(isRunning)).toEqual([]);
  expect((await listener.response(turnId)).status).toBe('aborted');
  expect(listener.exits).toEqual([{ expected: true }]);
});

test('an agent leads a process group, which can be ended without a process table', async () => {
  const { create, control } = await runAgent();
  await create();
  const { pid } = await control.process();
  expect(readProcess(pid)?.session).toBe(pid);
});

test('INV-8: a crashed agent’s processes are ended, even if they hold its output open', async () => {
  const { create, control, provider } = await runAgent({
    turns: [{ steps: [{ spawn: { detached: true, holdsStdout: true } }, { hang: true }] }],
  });
  const listener = await create();
  const turnId = await listener.send('Start something.');
  const children = await control.children(1);
  await control.crash();

  expect((await listener.response(turnId)).error).toMatchObject({ code: 'PROCESS_CRASH' });
  await provider.killSession(listener.sessionId);
  expect(children.filter(isRunning)).toEqual([]);
});

test('TC-3.2c, INV-2: a crash ends the turn at once, keeps its text, and reports why', async () => {
  const { create, control, provider } = await runAgent({
    turns: [{ steps: [{ stderr: 'Out of luck.\n' }, { say: 'So far so ' }, { hang: true }] }],
  });
  const listener = await create();
  const turnId = await listener.send('Talk.');
  await listener.event(turnId, 'item_delta');
  await control.crash();

  const events = await listener.ended(turnId);
  expectWholeTurn(events);
  const response = await listener.response(turnId);
  expect(response).toMatchObject({
    status: 'error',
    error: { code: 'PROCESS_CRASH', message: expect.stringMatching(/SIGKILL.*Out of luck/s) },
  });
  expect(messagesOf(response)).toEqual(['user: Talk.', 'agent: So far so ']);
  expect(provider.isAlive(listener.sessionId)).toBe(false);
  expect(listener.exits).toMatchObject([{ expected: false, code: 'PROCESS_CRASH' }]);
  await expect(listener.send('Still there?')).rejects.toMatchObject(coded('PROCESS_CRASH'));
});

test('the turn of an agent that exits after its answer is complete', async () => {
  const { create } = await runAgent({
    turns: [
      { steps: [{ say: 'Bye.' }, { stop: { stopReason: 'end_turn' } }, { exit: { code: 0 } }] },
    ],
  });
  const listener = await create();
  const response = await listener.ask('Go.');
  expect(response.status).toBe('complete');
  expect(messagesOf(response)).toContain('agent: Bye.');
  await listener.until(() => listener.exits[0]);
});

test('output from before a turn is not given as the reason of a crash in the turn', async () => {
  const { create } = await runAgent({
    onStart: [{ stderr: 'A deprecation warning.\n' }],
    turns: [
      { when: 'silent', steps: [{ exit: { code: 1 } }] },
      { when: 'loud', steps: [{ stderr: 'No memory.\n' }, { exit: { code: 1 } }] },
      { steps: [{ stderr: 'A slow disk.\n' }, { say: 'Fine.' }] },
    ],
  });
  const [silent, loud] = [await create(), await create()];
  await silent.ask('Go.');
  expect((await silent.ask('Be silent.')).error?.message).toBe(
    'Scripted has ended. The process exited with code 1.',
  );
  await loud.ask('Go.');
  expect((await loud.ask('Be loud.')).error?.message).toBe(
    'Scripted has ended. The process exited with code 1. It said: No memory.',
  );
});

test('garbage between the messages is ignored, and explains an agent’s end', async () => {
  const { create } = await runAgent({
    onStart: [{ raw: 'Welcome to the agent!' }, { raw: '' }, { raw: '{"half": ' }],
    turns: [
      {
        when: 'first',
        steps: [
          { say: 'One, ' },
          { raw: 'npm warn something' },
          { message: null },
          { message: 7 },
          { message: [] },
          { message: {} },
          { bytes: Buffer.from([0xff, 0xfe, 0x0a]).toString('base64') },
          { message: { jsonrpc: '2.0', id: 99, result: {} } },
          { say: 'two.' },
        ],
      },
      { steps: [{ raw: 'panic: at the disco' }, { exit: { code: 101 } }] },
    ],
  });
  const listener = await create();
  const response = await listener.ask('The first.');
  expect(response.status).toBe('complete');
  expect(messagesOf(response)).toEqual(['user: The first.', 'agent: One, two.']);
  const { error } = await listener.ask('The second.');
  expect(error?.message).toContain('panic: at the disco');
});

test('an endless line breaks the protocol, and does not exhaust the server’s memory', async () => {
  const { create, control } = await runAgent({
    turns: [
      { steps: [{ repeat: { times: 40, steps: [{ raw: 'x'.repeat(1024 * 1024), end: '' }] } }] },
    ],
  });
  const listener = await create();
  const { error } = await listener.ask('Go on.');
  expect(error).toMatchObject({
    code: 'PROTOCOL_ERROR',
    message: expect.stringContaining('32 MiB'),
  });
  await (
    await control.process()
  ).gone;
  expect(listener.exits).toMatchObject([{ expected: false, code: 'PROTOCOL_ERROR' }]);
});

test('a flood of text arrives whole and in order', async () => {
  const count = atLength ? 20_000 : 5_000;
  const { provider, projectDir } = await runAgent({ turns: [{ steps: [{ flood: { count } }] }] });
  const { sessionId } = await provider.createSession({ projectDir });
  let text = '';
  const ended = new Promise<void>((resolve) => {
    provider.onEvent(sessionId, ({ payload }) => {
      if (payload.type === 'item_delta') text += payload.deltaContent;
      if (payload.type === 'response_done') resolve();
    });
  });
  await provider.sendMessage(sessionId, 'Pour.');
  await ended;
  const times = text.trim().split(/\s+/).map(Number);
  expect(times).toHaveLength(count);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

const floods: Record<string, { id?: unknown }> = {
  'with ids of their own': {},
  'with a null id': { id: null },
  'that all have the same id': { id: 'same' },
};

testAtLength.each(Object.entries(floods))(
  'an agent that floods with requests %s is ended',
  async (_, id) => {
    const { create } = await runAgent({
      turns: [
        {
          steps: [
            {
              repeat: {
                times: 1_100,
                steps: [
                  {
                    request: {
                      ...id,
                      method: 'session/request_permission',
                      wait: false,
                      params: {
                        toolCall: { toolCallId: 'call' },
                        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
                      },
                    },
                  },
                ],
              },
            },
            { hang: true },
          ],
        },
      ],
    });
    const listener = await create();
    const { error } = await listener.ask('Ask.');
    expect(error).toMatchObject({ code: 'PROTOCOL_ERROR' });
  },
);

test('an agent that sends many requests and reads no answers is ended', async () => {
  const read = {
    request: {
      method: 'fs/read_text_file',
      params: { path: '{{cwd}}/large.txt' },
      wait: false,
    },
  };
  const { create } = await runAgent(
    { turns: [{ steps: [{ repeat: { times: 10, steps: [read] } }, { silence: true }] }] },
    { files: { 'large.txt': 'x'.repeat(10_000_000) } },
  );
  const listener = await create();
  const { error } = await listener.ask('Read.');
  expect(error).toMatchObject({
    code: 'PROTOCOL_ERROR',
    message: expect.stringContaining('does not read'),
  });
});

test('two callers that load a session at once get the same session', async () => {
  const { create, provider, calls } = await runAgent();
  const listener = await create();
  const { sessionId } = listener;
  await listener.ask('Hi.');
  await provider.killSession(sessionId);
  await Promise.all([provider.loadSession(sessionId), provider.loadSession(sessionId)]);
  expect((await calls()).filter((method) => method === 'session/load')).toHaveLength(1);
});

test('killing a session that waits to be started lets the next session start', async () => {
  const { provider, projectDir, control } = await runAgent(
    { on: { initialize: [{ hang: true }] } },
    { provider: { maxStarts: 1 } },
  );
  const ids = [randomUUID(), randomUUID()];
  const starts = ids.map((sessionId) => provider.createSession({ projectDir, sessionId }));
  for (const start of starts) start.catch(() => undefined);
  const first = await control.process();

  await provider.killSession(ids[1]!);

  await expect(starts[1]).rejects.toMatchObject(coded('SESSION_CREATE_FAILED'));
  expect(first.alive).toBe(true);
  await provider.killSession(ids[0]!);
  expect(control.processes).toEqual([first]);
});

test('describing an agent reports whether its program exists, and starts nothing', async () => {
  const { provider, control } = await runAgent();
  const mcpTransports = ['stdio', 'http', 'sse'];
  expect(await provider.describe()).toEqual({ ...names, mcpTransports, available: true });
  expect(control.processes).toEqual([]);
});

test('an agent inherits the environment without Liminal’s own variables, plus the configured variables', async () => {
  vi.stubEnv('LIMINAL_TOKEN', 'secret');
  vi.stubEnv('SOMETHING', 'inherited');
  const { provider, projectDir } = await runAgent(
    {},
    {
      provider: {
        command: 'sh',
        args: ['-c', 'echo "token=$LIMINAL_TOKEN some=$SOMETHING own=$OWN" >&2; exit 1'],
        env: { OWN: 'configured' },
      },
    },
  );
  await expect(provider.createSession({ projectDir })).rejects.toMatchObject({
    message: expect.stringContaining('token= some=inherited own=configured'),
  });
  vi.unstubAllEnvs();
});

test('an unknown session cannot be loaded or written to', async () => {
  const { provider } = await runAgent();
  const unknown = new Listener(provider, randomUUID());
  const notFound = coded('SESSION_NOT_FOUND');
  await expect(provider.loadSession(unknown.sessionId)).rejects.toMatchObject(notFound);
  await expect(unknown.send('Hi.')).rejects.toMatchObject(notFound);
  await expect(provider.cancelTurn(unknown.sessionId)).rejects.toMatchObject(notFound);
  await expect(provider.killSession(unknown.sessionId)).rejects.toMatchObject(notFound);
});
