/** Codex over ACP: the maintained adapter, of which only the command is configured, and the real Codex behind it. */
import { access, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answer,
  applyPatch,
  byModelPrompt,
  customCall,
  execCommand,
  failed,
  functionCall,
  gate,
  greeter,
  httpError,
  message,
  reasoning,
  updatePlan,
  type ModelReply,
} from '@liminal/testkit';
import {
  emptyResponse,
  foldResponse,
  stampEvent,
  toResponse,
  type OutputItem,
  type Response,
} from '@liminal/protocol';
import { describe, expect, test } from 'vitest';
import type { StoredTurn } from '../../src/provider.ts';
import { processesOf } from '../claude-code/processes.ts';
import { Listener, said } from './running-agent.ts';
import { adaptersIn, commandsIn, runAdapter } from './running-codex-adapter.ts';

/** Asks before it leaves the sandbox. */
const makeFile = execCommand('touch new.txt', { escalate: 'It is needed.' });

const itemsOf = <T extends OutputItem['type']>({ outputItems }: Response, type: T) =>
  outputItems.filter((item): item is Extract<OutputItem, { type: T }> => item.type === type);

function fold({ turnId, events }: StoredTurn): Response {
  const run = { sessionId: 's', runId: turnId, traceContext: { traceparent: '00' } };
  return toResponse(
    events.reduce(
      (state, draft, seq) => foldResponse(state, stampEvent(draft, run, seq)),
      emptyResponse(),
    ),
  )!;
}

const patience = { timeout: 30_000, interval: 50 };

describe('a turn', () => {
  test('TC-4.2a: what the model says arrives as it is said, as one message that grows', async () => {
    const middle = gate();
    const { create } = await runAdapter(() => [answer(message(['Half of', middle, ' it all.']))]);
    const listener = await create();

    const turnId = await listener.send('Say it.');
    await middle.reached;
    expect(await listener.event(turnId, 'item_delta')).toMatchObject({ deltaContent: 'Half of' });
    middle.open();
    await listener.response(turnId);

    const told = listener.upserts.filter((one) => one.type === 'message' && one.origin === 'agent');
    expect(new Set(told.map(({ itemId }) => itemId)).size).toBe(1);
    expect(told.at(-1)).toMatchObject({ status: 'complete', content: 'Half of it all.' });
  });

  test('what the model says twice is shown twice, to the letter', async () => {
    const sayings = ['slow '.repeat(40), 'The fox. The fox.', 'The fox. '.repeat(20), 'no\n\nno\n'];
    const { create } = await runAdapter(() =>
      sayings.flatMap((text) => [1, 4, 9].map((chunk) => answer(message(text, { chunk })))),
    );
    const listener = await create();
    for (const text of sayings.flatMap((one) => [one, one, one])) {
      expect(said(await listener.ask('Say it.'))).toEqual(['user: Say it.', `agent: ${text}`]);
    }
  });

  test('messages before and after a tool that is not reported are two, though they are the same', async () => {
    const { create } = await runAdapter(() => [
      answer([message('I change it.'), customCall('apply_patch', 'no patch')]),
      answer('I change it.'),
    ]);
    const response = await (await create()).ask('Change it.');
    expect(said(response)).toEqual([
      'user: Change it.',
      'agent: I change it.',
      'agent: I change it.',
    ]);
  });

  test('TC-4.2b, TC-4.2c: a command is shown when it is called, and with its output when it is done', async () => {
    const { create } = await runAdapter(() => [
      answer([message('Looking.'), execCommand('echo found; exit 3', { callId: 'call_look' })]),
      answer(execCommand('echo well')),
      answer('There.'),
    ]);
    const listener = await create();

    const response = await listener.ask('Look.');

    const told = listener.upserts.filter(
      (one) => one.type === 'tool_call' && one.callId === 'call_look',
    );
    expect(told.map(({ status }) => status)).toEqual(['create', 'complete']);
    expect(told[0]).toMatchObject({
      title: 'echo found; exit 3',
      kind: 'execute',
      toolName: 'exec_command',
    });
    expect(told[1]).toMatchObject({
      toolArguments: { command: 'echo found; exit 3' },
      toolOutput: 'found\n',
      toolOutputIsError: true,
      exitCode: 3,
    });
    expect(itemsOf(response, 'function_call_output')[1]).toMatchObject({
      output: 'well\n',
      success: true,
      exitCode: 0,
    });
    expect(said(response)).toEqual(['user: Look.', 'agent: Looking.', 'agent: There.']);
  });

  test('a command’s output is told while the command runs', async () => {
    const { create, workspace } = await runAdapter(
      () => [
        answer(
          execCommand('while [ -e hold ]; do echo more; sleep 0.1; done', { yieldMs: 20_000 }),
        ),
        answer('Enough.'),
      ],
      { files: { hold: '' } },
    );
    const listener = await create();
    const turnId = await listener.send('Go on until I stop you.');

    expect(await listener.event(turnId, 'item_delta')).toMatchObject({
      deltaContent: expect.stringMatching(/^(more\n)+$/),
    });
    await rm(join(workspace.projectDir, 'hold'));

    const response = await listener.response(turnId);
    expect(itemsOf(response, 'function_call_output')).toMatchObject([
      { success: true, exitCode: 0, output: expect.stringMatching(/^(more\n)+$/) },
    ]);
  });

  test('a patch is told as what it changes', async () => {
    const { create, workspace } = await runAdapter(
      () => [
        answer(applyPatch(['*** Update File: notes.txt', '@@', ' one', '-two', '+zwei'])),
        answer('Changed.'),
      ],
      { files: { 'notes.txt': 'one\ntwo\n' } },
    );
    const listener = await create();

    const response = await listener.ask('Change it.');

    const path = join(workspace.projectDir, 'notes.txt');
    expect(await readFile(path, 'utf8')).toBe('one\nzwei\n');
    expect(itemsOf(response, 'function_call')).toMatchObject([
      { kind: 'edit', diffs: [{ path, oldText: 'one\ntwo\n', newText: 'one\nzwei\n' }] },
    ]);
    expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: true }]);
  });

  test('a thought in parts is told once, and a plan as it goes on', async () => {
    const { create } = await runAdapter(() => [
      answer([
        reasoning(['**One** first', '**Two** second', '**Three** third'], { chunk: 4 }),
        updatePlan([
          ['Look', 'in_progress'],
          ['Change', 'pending'],
        ]),
      ]),
      answer(
        updatePlan([
          ['Look', 'completed'],
          ['Change', 'in_progress'],
        ]),
      ),
      answer('Going on.'),
    ]);
    const listener = await create();

    const response = await listener.ask('Plan it.');

    const thought = itemsOf(response, 'reasoning').map(({ content }) => content);
    expect(thought).toEqual(['\n\n**One** first\n\n**Two** second\n\n**Three** third']);
    expect(itemsOf(response, 'plan').map(({ entries }) => entries)).toMatchObject([
      [
        { content: 'Look', status: 'completed' },
        { content: 'Change', status: 'in_progress' },
      ],
    ]);
  });

  test('a tool of a configured MCP server is called, with its input and its answer', async () => {
    const { create } = await runAdapter(
      () => [
        answer(functionCall('greet', { name: 'Ada' }, { namespace: 'mcp__own' })),
        answer('Greeted.'),
      ],
      { mcpServers: { own: greeter() } },
    );
    const listener = await create();

    const response = await listener.ask('Greet her.');

    const [call] = itemsOf(response, 'function_call');
    expect(JSON.stringify(call)).toContain('Ada');
    expect(itemsOf(response, 'function_call_output')).toMatchObject([
      { success: true, output: expect.stringContaining('Hello, Ada!') },
    ]);
  });
});

describe('a request for permission', () => {
  test('is about its command, which runs once it is allowed', async () => {
    const { create, workspace } = await runAdapter(() => [answer(makeFile), answer('Made.')], {
      mode: 'workspace-write',
    });
    const listener = await create();
    const turnId = await listener.send('Make it.');
    const request = await listener.asked(turnId);
    expect(request.title).toBe('touch new.txt');

    await request.answer('allow_once');

    const response = await listener.response(turnId);
    expect(said(response)).toContain('agent: Made.');
    await access(join(workspace.projectDir, 'new.txt'));
    const [call, ...others] = itemsOf(response, 'function_call');
    expect(others).toEqual([]);
    expect(call).toMatchObject({ title: 'touch new.txt', kind: 'execute' });
    expect(itemsOf(response, 'function_call_output')).toMatchObject([
      { success: true, exitCode: 0 },
    ]);
  });

  test('that is refused ends the turn: the command does not run, and its call is closed', async () => {
    const { create, workspace } = await runAdapter(() => [answer(makeFile), answer('What then?')], {
      mode: 'workspace-write',
    });
    const listener = await create();
    const turnId = await listener.send('Make it.');
    const { answer: reply } = await listener.asked(turnId);

    await reply('cancel');

    const response = await listener.response(turnId);
    expect(response.status).toBe('aborted');
    expect(itemsOf(response, 'approval')).toMatchObject([
      { outcome: { outcome: 'selected', optionId: 'cancel' } },
    ]);
    expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
    await expect(access(join(workspace.projectDir, 'new.txt'))).rejects.toThrow('ENOENT');
    expect(said(await listener.ask('Then not.'))).toEqual(['user: Then not.', 'agent: What then?']);
  });
});

describe('a turn that goes wrong', () => {
  test('INV-8: that is cancelled while a command runs ends; the command, which Codex lets go on, ends with the session', async () => {
    const { create, provider, workspace } = await runAdapter(
      () => [
        answer(
          execCommand('while [ -e hold ]; do echo more; sleep 0.1; done', { yieldMs: 20_000 }),
        ),
        answer('Back.'),
      ],
      { files: { hold: '' }, mcpServers: { own: greeter() } },
    );
    const listener = await create();
    const running = () => commandsIn(workspace.home);
    await expect.poll(running, patience).toHaveLength(1);
    const turnId = await listener.send('Go on until I stop you.');
    await listener.event(turnId, 'item_delta');
    expect(running().length).toBeGreaterThan(1);

    await provider.cancelTurn(listener.sessionId);

    const response = await listener.response(turnId);
    expect(response.status).toBe('aborted');
    expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
    expect(said(await listener.ask('Back?'))).toEqual(['user: Back?', 'agent: Back.']);
    await provider.killSession(listener.sessionId);
    expect(running()).toEqual([]);
  });

  test('by its model’s error says so in its words', async () => {
    const { create } = await runAdapter(() => [
      httpError(400, 'The request makes no sense.'),
      failed('insufficient_quota', 'You exceeded your current quota.'),
      answer('Better now.'),
    ]);
    const listener = await create();

    const [bad, quota] = [await listener.ask('First.'), await listener.ask('Second.')];

    expect([bad.status, quota.status]).toEqual(['error', 'error']);
    expect(bad.error?.message).toBe('The request makes no sense.');
    expect(quota.error?.message).toContain('Quota exceeded.');
    expect(said(await listener.ask('Third.'))).toEqual(['user: Third.', 'agent: Better now.']);
  });

  test('is followed by an answer to the message that comes directly after it', async () => {
    const { create } = await runAdapter(
      () =>
        ({ prompt }) =>
          prompt.startsWith('Fail') ? httpError(400) : answer('Fine.'),
    );
    const listener = await create();
    for (let round = 0; round < 6; round += 1) {
      expect((await listener.ask(`Fail ${round}.`)).status).toBe('error');
      expect(said(await listener.ask(`Again ${round}.`))).toEqual([
        `user: Again ${round}.`,
        'agent: Fine.',
      ]);
    }
  });
});

const eventful: ModelReply[] = [
  answer([
    reasoning(['**First** I look.', '**Then** I change.']),
    message('Looking.'),
    execCommand('echo broken; exit 3'),
  ]),
  answer('It is broken.'),
];

describe('a session', () => {
  test('TC-4.1a: is begun, and has Codex’s own id, settings and commands', async () => {
    const { create, provider } = await runAdapter(() => []);
    const listener = await create();

    expect(provider.isAlive(listener.sessionId)).toBe(true);
    expect(await listener.agentSessionId()).toMatch(/^[0-9a-f-]{36}$/);
    expect(['mode', 'model', 'reasoning_effort'].map((id) => listener.option(id))).toEqual([
      'agent-full-access',
      'scripted',
      'medium',
    ]);
    const { commands } = await listener.until(() => listener.updates.find((one) => one.commands));
    expect(commands?.map(({ name }) => name)).toContain('compact');
  });

  test('has settings that reach the model, from its beginning and later', async () => {
    const { create, provider, api } = await runAdapter(() => [answer('One.'), answer('Two.')]);
    const listener = await create({ reasoning_effort: 'high' });
    await listener.ask('First.');

    await provider.setConfigOption(listener.sessionId, 'model', 'scripted-mini');
    await listener.ask('Second.');

    expect(listener.option('model')).toBe('scripted-mini');
    const asked = api.requests.filter(({ prompt }) => /^(First|Second)\.$/.test(prompt));
    expect(asked.map(({ body }) => [body.model, body['reasoning']])).toMatchObject([
      ['scripted', { effort: 'high' }],
      ['scripted-mini', { effort: 'low' }],
    ]);
  });

  test('TC-4.1b: is read whole and once by another provider, which goes on with it', async () => {
    const { create, provider, provide, workspace, api } = await runAdapter(() =>
      byModelPrompt({ first: eventful, second: [answer('And on.')] }),
    );
    const { projectDir } = workspace;
    const before = await create();
    const live = await before.ask('The first question.');
    const sessionId = await before.agentSessionId();
    await provider.close();

    const another = provide();
    const history = (await another.readStoredHistory(sessionId, projectDir)).map(fold);
    const after = new Listener(another, sessionId);
    await another.loadSession(sessionId, { projectDir });
    const next = await after.ask('The second question.');

    expect(history.map(said)).toEqual([said(live)]);
    const shown = ({ outputItems }: Response) =>
      outputItems.map((item) => ('exitCode' in item ? [item.output, item.exitCode] : item.type));
    expect(history.map(shown)).toEqual([shown(live)]);
    // The model gets the earlier conversation, and only the new turn is shown.
    expect(said(next)).toEqual(['user: The second question.', 'agent: And on.']);
    const asked = api.requests.find(({ prompt }) => prompt === 'The second question.');
    expect(JSON.stringify(asked?.body.input)).toContain('It is broken.');
    expect([...new Set(after.events.map(({ turnId }) => turnId))]).toHaveLength(1);
  });

  test('is listed for its folder', async () => {
    const { create, provide, workspace } = await runAdapter(() => [answer('Yes.')]);
    const listener = await create();
    await listener.ask('Is anything here?');

    const provider = provide();

    expect(await provider.listStoredSessions(workspace.projectDir)).toMatchObject([
      { sessionId: await listener.agentSessionId(), projectDir: workspace.projectDir },
    ]);
    expect(await provider.listStoredSessions('/nowhere')).toEqual([]);
  });

  test('that crashes in the middle of a text keeps it, is loaded, and goes on', async () => {
    const middle = gate();
    const { create, provider, workspace } = await runAdapter(() =>
      byModelPrompt({
        first: [answer('One.')],
        second: [answer(message(['Half of', middle, ' it']))],
        third: [answer('Three.')],
      }),
    );
    const listener = await create();
    await listener.ask('The first.');
    const turnId = await listener.send('The second.');
    await listener.event(turnId, 'item_delta');

    for (const pid of adaptersIn(workspace.home)) process.kill(pid, 'SIGKILL');

    const broken = await listener.response(turnId);
    expect(broken).toMatchObject({ status: 'error', error: { code: 'PROCESS_CRASH' } });
    expect(said(broken)).toEqual(['user: The second.', 'agent: Half of']);
    await listener.until(() => listener.exits[0]);
    await provider.loadSession(listener.sessionId);
    expect(said(await listener.ask('The third.'))).toEqual(['user: The third.', 'agent: Three.']);
  });

  test('is answered at the same time as another, each by its own words', async () => {
    const middle = gate();
    const { create, workspace } = await runAdapter(() =>
      byModelPrompt({
        first: [answer(message(['One begins', middle, ' and ends.']))],
        second: [answer(execCommand('echo two > two.txt')), answer('Two.')],
      }),
    );
    const [one, two] = await Promise.all([create(), create()]);
    const turnId = await one.send('The first.');
    await one.event(turnId, 'item_delta');

    expect(said(await two.ask('The second.'))).toEqual(['user: The second.', 'agent: Two.']);
    middle.open();

    expect(said(await one.response(turnId))).toEqual([
      'user: The first.',
      'agent: One begins and ends.',
    ]);
    expect(await readFile(join(workspace.projectDir, 'two.txt'), 'utf8')).toBe('two\n');
  });

  test('INV-8: leaves nothing running of what its commands have started', async () => {
    const { create, provider, workspace } = await runAdapter(() => [
      answer(execCommand('(setsid sleep 300 &) ; touch begun; sleep 300', { yieldMs: 300 })),
      answer('It runs.'),
    ]);
    const listener = await create();
    await listener.ask('Start it.');
    await access(join(workspace.projectDir, 'begun'));
    expect(commandsIn(workspace.home).length).toBeGreaterThan(1);

    await provider.killSession(listener.sessionId);

    expect(processesOf(workspace.home)).toEqual([]);
  });
});
