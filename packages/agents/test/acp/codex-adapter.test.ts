/** Codex over ACP: the maintained adapter, configured only by its command, with the real Codex. */
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
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { describe, expect, test } from 'vitest';
import type { StoredTurn } from '../../src/contract/provider.ts';
import { processesOf } from '../claude-code/processes.ts';
import { Listener, messagesOf } from './running-agent.ts';
import { adaptersIn, commandsIn, runAdapter, sharedAdapter } from './running-codex-adapter.ts';

/** A command for which Codex asks permission, because it leaves the sandbox. */
const make = (name: string) => execCommand(`touch ${name}`, { escalate: 'It is needed.' });

const itemsOf = <T extends OutputItem['type']>({ outputItems }: Response, type: T) =>
  outputItems.filter((item): item is Extract<OutputItem, { type: T }> => item.type === type);

function fold({ turnId, events }: StoredTurn): Response {
  const run = {
    sessionId: 's',
    runId: turnId,
    traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
  };
  return toResponse(
    events.reduce(
      (state, draft, seq) => foldResponse(state, stampEvent(draft, run, seq)),
      emptyResponse(),
    ),
  )!;
}

const patience = { timeout: 30_000, interval: 50 };

describe('turns', () => {
  const share = sharedAdapter({
    files: { 'notes.txt': 'one\ntwo\n', hold: '' },
    mcpServers: { own: greeter() },
  });

  test('TC-4.1a: a turn begins in a session that has Codex’s own id, settings and commands', async () => {
    const { first, provider } = share([]);

    expect(provider.isAlive(first.sessionId)).toBe(true);
    expect(await first.agentSessionId()).toMatch(/^[0-9a-f-]{36}$/);
    expect(['mode', 'model', 'reasoning_effort'].map((id) => first.option(id))).toEqual([
      'agent-full-access',
      'scripted',
      'medium',
    ]);
    const { commands } = await first.until(() => first.updates.find((one) => one.commands));
    expect(commands?.map(({ name }) => name)).toContain('compact');
  });

  test('TC-4.2a: a turn streams the model’s text as one growing message', async () => {
    const middle = gate();
    const { listener } = share([answer(message(['Half of', middle, ' it all.']))]);

    const turnId = await listener.send('Say it.');
    await middle.reached;
    expect(await listener.event(turnId, 'item_delta')).toMatchObject({ deltaContent: 'Half of' });
    middle.open();
    await listener.response(turnId);

    const told = listener.upserts.filter((one) => one.type === 'message' && one.origin === 'agent');
    expect(new Set(told.map(({ itemId }) => itemId)).size).toBe(1);
    expect(told.at(-1)).toMatchObject({ status: 'complete', content: 'Half of it all.' });
  });

  test('repeated text of the model is shown unchanged', async () => {
    const sayings = ['slow '.repeat(40), 'The fox. The fox.', 'The fox. '.repeat(20), 'no\n\nno\n'];
    const chunks = atLength ? [1, 4, 9] : [1, 4];
    const { listener } = share(
      sayings.flatMap((text) => chunks.map((chunk) => answer(message(text, { chunk })))),
    );
    for (const text of sayings.flatMap((one) => chunks.map(() => one))) {
      expect(messagesOf(await listener.ask('Say it.'))).toEqual([
        'user: Say it.',
        `agent: ${text}`,
      ]);
    }
  });

  test('equal messages before and after a tool that is not reported are shown as two messages', async () => {
    const { listener } = share([
      answer([message('I change it.'), customCall('apply_patch', 'no patch')]),
      answer('I change it.'),
    ]);
    const response = await listener.ask('Change it.');
    expect(messagesOf(response)).toEqual([
      'user: Change it.',
      'agent: I change it.',
      'agent: I change it.',
    ]);
  });

  test('TC-4.2b, TC-4.2c: a turn shows a command when it is called, and its output when it is done', async () => {
    const { listener } = share([
      answer([message('Looking.'), execCommand('echo found; exit 3', { callId: 'call_look' })]),
      answer(execCommand('echo well')),
      answer('There.'),
    ]);

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
    expect(messagesOf(response)).toEqual(['user: Look.', 'agent: Looking.', 'agent: There.']);
  });

  test('a turn streams a command’s output while the command runs', async () => {
    const { listener, workspace } = share([
      answer(execCommand('while [ -e hold ]; do echo more; sleep 0.1; done', { yieldMs: 20_000 })),
      answer('Enough.'),
    ]);
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

  test('a turn shows the changes of a patch', async () => {
    const { listener, workspace } = share([
      answer(applyPatch(['*** Update File: notes.txt', '@@', ' one', '-two', '+zwei'])),
      answer('Changed.'),
    ]);

    const response = await listener.ask('Change it.');

    const path = join(workspace.projectDir, 'notes.txt');
    expect(await readFile(path, 'utf8')).toBe('one\nzwei\n');
    expect(itemsOf(response, 'function_call')).toMatchObject([
      { kind: 'edit', diffs: [{ path, oldText: 'one\ntwo\n', newText: 'one\nzwei\n' }] },
    ]);
    expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: true }]);
  });

  test('a thought that arrives in parts is shown once, and each change of a plan is shown', async () => {
    const { listener } = share([
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

  test('a turn shows the input and the answer of a configured MCP server’s tool', async () => {
    const { listener } = share([
      answer(functionCall('greet', { name: 'Ada' }, { namespace: 'mcp__own' })),
      answer('Greeted.'),
    ]);

    const response = await listener.ask('Greet her.');

    const [call] = itemsOf(response, 'function_call');
    expect(JSON.stringify(call)).toContain('Ada');
    expect(itemsOf(response, 'function_call_output')).toMatchObject([
      { success: true, output: expect.stringContaining('Hello, Ada!') },
    ]);
  });

  test('a turn that fails by its model’s error quotes the error', async () => {
    const { listener } = share([
      httpError(400, 'The request makes no sense.'),
      failed('insufficient_quota', 'You exceeded your current quota.'),
      answer('Better now.'),
    ]);

    const [bad, quota] = [await listener.ask('First.'), await listener.ask('Second.')];

    expect([bad.status, quota.status]).toEqual(['error', 'error']);
    expect(bad.error?.message).toBe('The request makes no sense.');
    expect(quota.error?.message).toContain('Quota exceeded.');
    expect(messagesOf(await listener.ask('Third.'))).toEqual([
      'user: Third.',
      'agent: Better now.',
    ]);
  });

  test('a message that is sent directly after a failed turn is answered', async () => {
    const { listener } = share(({ prompt }) =>
      prompt.startsWith('Fail') ? httpError(400) : answer('Fine.'),
    );
    for (let round = 0; round < (atLength ? 6 : 2); round += 1) {
      expect((await listener.ask(`Fail ${round}.`)).status).toBe('error');
      expect(messagesOf(await listener.ask(`Again ${round}.`))).toEqual([
        `user: Again ${round}.`,
        'agent: Fine.',
      ]);
    }
  });

  test('a turn uses its session’s settings, and runs at the same time as another session’s turn without mixing their text', async () => {
    const middle = gate();
    const script = byModelPrompt({
      first: [answer(message(['One begins', middle, ' and ends.']))],
      second: [answer(execCommand('echo two > two.txt')), answer('Two.')],
      third: [answer('Three.')],
    });
    const { listener: one, create, provider, api, workspace } = share(script);
    const two = await create({ reasoning_effort: 'high' });
    const turnId = await one.send('The first.');
    await one.event(turnId, 'item_delta');

    expect(messagesOf(await two.ask('The second.'))).toEqual(['user: The second.', 'agent: Two.']);
    await provider.setConfigOption(two.sessionId, 'model', 'scripted-mini');
    await two.ask('The third.');
    middle.open();

    expect(messagesOf(await one.response(turnId))).toEqual([
      'user: The first.',
      'agent: One begins and ends.',
    ]);
    expect(await readFile(join(workspace.projectDir, 'two.txt'), 'utf8')).toBe('two\n');
    expect(two.option('model')).toBe('scripted-mini');
    const asked = api.requests.filter(({ prompt }) => /^The (second|third)\.$/.test(prompt));
    expect(asked.map(({ body }) => [body.model, body['reasoning']])).toMatchObject([
      ['scripted', { effort: 'high' }],
      ['scripted', { effort: 'high' }],
      ['scripted-mini', { effort: 'low' }],
    ]);
    await provider.killSession(two.sessionId);
  });

  testAtLength(
    'in which the adapter crashes keeps its text; then the session is loaded and continues',
    async () => {
      const middle = gate();
      const { listener, provider, workspace } = share([
        answer(message(['Half of', middle, ' it'])),
        answer('And on.'),
      ]);
      const turnId = await listener.send('Say it.');
      await listener.event(turnId, 'item_delta');

      for (const pid of adaptersIn(workspace.home)) process.kill(pid, 'SIGKILL');

      const broken = await listener.response(turnId);
      expect(broken).toMatchObject({ status: 'error', error: { code: 'PROCESS_CRASH' } });
      expect(messagesOf(broken)).toEqual(['user: Say it.', 'agent: Half of']);
      await listener.until(() => listener.exits[0]);
      await provider.loadSession(listener.sessionId);
      expect(messagesOf(await listener.ask('Go on.'))).toEqual(['user: Go on.', 'agent: And on.']);
    },
  );

  test('INV-8: a turn that is cancelled during a command ends; Codex leaves the command running, and it ends with the session, with all its descendants', async () => {
    const { listener, provider, workspace } = share([
      answer(execCommand('while :; do echo more; sleep 0.1; done', { yieldMs: 20_000 })),
      answer(execCommand('(setsid sleep 300 &) ; touch begun; sleep 300', { yieldMs: 300 })),
      answer('Back.'),
    ]);
    const running = () => commandsIn(workspace.home);
    await expect.poll(running, patience).toHaveLength(1);
    const turnId = await listener.send('Go on until I stop you.');
    await listener.event(turnId, 'item_delta');
    const looping = running().length;
    expect(looping).toBeGreaterThan(1);

    await provider.cancelTurn(listener.sessionId);

    const response = await listener.response(turnId);
    expect(response.status).toBe('aborted');
    expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
    expect(messagesOf(await listener.ask('Start it.'))).toEqual([
      'user: Start it.',
      'agent: Back.',
    ]);
    await access(join(workspace.projectDir, 'begun'));
    expect(running().length).toBeGreaterThan(looping);

    await provider.killSession(listener.sessionId);

    expect(processesOf(workspace.home)).toEqual([]);
  });
});

describe('requests for permission', () => {
  const share = sharedAdapter({ mode: 'workspace-write' });

  test('a request for permission names its command, and the command runs once it is allowed', async () => {
    const { listener, workspace } = share([answer(make('new.txt')), answer('Made.')]);
    const turnId = await listener.send('Make it.');
    const request = await listener.asked(turnId);
    expect(request.title).toBe('touch new.txt');

    await request.answer('allow_once');

    const response = await listener.response(turnId);
    expect(messagesOf(response)).toContain('agent: Made.');
    await access(join(workspace.projectDir, 'new.txt'));
    const [call, ...others] = itemsOf(response, 'function_call');
    expect(others).toEqual([]);
    expect(call).toMatchObject({ title: 'touch new.txt', kind: 'execute' });
    expect(itemsOf(response, 'function_call_output')).toMatchObject([
      { success: true, exitCode: 0 },
    ]);
  });

  test('if a request for permission is refused, the turn ends: the command does not run, and its call ends', async () => {
    const { listener, workspace } = share([answer(make('other.txt')), answer('What then?')]);
    const turnId = await listener.send('Make it.');
    const { answer: reply } = await listener.asked(turnId);

    await reply('cancel');

    const response = await listener.response(turnId);
    expect(response.status).toBe('aborted');
    expect(itemsOf(response, 'approval')).toMatchObject([
      { outcome: { outcome: 'selected', optionId: 'cancel' } },
    ]);
    expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
    await expect(access(join(workspace.projectDir, 'other.txt'))).rejects.toThrow('ENOENT');
    expect(messagesOf(await listener.ask('Then not.'))).toEqual([
      'user: Then not.',
      'agent: What then?',
    ]);
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

describe('sessions', () => {
  test('TC-4.1b: another provider lists a session for its folder, reads it whole and once, and continues it', async () => {
    const { create, provider, provide, workspace, api } = await runAdapter(() =>
      byModelPrompt({ first: eventful, second: [answer('And on.')] }),
    );
    const { projectDir } = workspace;
    const before = await create();
    const live = await before.ask('The first question.');
    const sessionId = await before.agentSessionId();
    await provider.close();

    const another = provide();
    expect(await another.listStoredSessions(projectDir)).toMatchObject([{ sessionId, projectDir }]);
    expect(await another.listStoredSessions('/nowhere')).toEqual([]);
    const history = (await another.readStoredHistory(sessionId, projectDir)).map(fold);
    const after = new Listener(another, sessionId);
    await another.loadSession(sessionId, { projectDir });
    const next = await after.ask('The second question.');

    expect(history.map(messagesOf)).toEqual([messagesOf(live)]);
    const shown = ({ outputItems }: Response) =>
      outputItems.map((item) => ('exitCode' in item ? [item.output, item.exitCode] : item.type));
    expect(history.map(shown)).toEqual([shown(live)]);
    // The model gets the earlier conversation, but only the new turn is shown.
    expect(messagesOf(next)).toEqual(['user: The second question.', 'agent: And on.']);
    const asked = api.requests.find(({ prompt }) => prompt === 'The second question.');
    expect(JSON.stringify(asked?.body.input)).toContain('It is broken.');
    expect([...new Set(after.events.map(({ turnId }) => turnId))]).toHaveLength(1);
  });
});
