import type { Query } from '@anthropic-ai/claude-agent-sdk';
import {
  gate,
  held,
  reply,
  text,
  times,
  toolUse,
  withSubagents,
  type MessagesRequest,
} from '@liminal/testkit';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ContentBlock } from '@liminal/protocol';
import { expect, test, vi } from 'vitest';
import { foldTurns } from '../../src/testing/folding.ts';
import { runClaude, messagesOf, shareClaude } from './running-claude.ts';

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The processes that the SDK has started, in order. */
const running: Query[] = [];

vi.mock(import('../../src/kinds/claude-code/sdk.ts'), async (original) => {
  const sdk = await (await original()).loadSdk();
  const query: typeof sdk.query = (params) => {
    const started = sdk.query(params);
    running.push(started);
    return started;
  };
  return { loadSdk: async () => ({ ...sdk, query }) };
});

const share = shareClaude({
  files: { 'notes.txt': '', 'src/greet.ts': 'export const greet = 42;' },
});

test('TC-3.2a: sending resolves when the turn has begun, not when it has ended', async () => {
  const silence = gate();
  const { listener, api } = share(() => [held(silence, reply('Done.'))]);
  const { turnId } = await listener.send('Take your time.');
  expect(listener.events[0]).toMatchObject({
    turnId,
    payload: { type: 'response_start', trigger: 'user' },
  });
  expect(listener.response(turnId).status).toBe('in_progress');
  expect((await api.request(({ kind }) => kind === 'main')).prompt).toBe('Take your time.');
  await expect(listener.send('Hurry!')).rejects.toMatchObject({ code: 'TURN_IN_PROGRESS' });
  silence.open();
  expect(messagesOf(await listener.ended(turnId))).toEqual([
    'user: Take your time.',
    'agent: Done.',
  ]);
});

test('TC-3.2b: messages are answered in order by the same process', async () => {
  const { listener, api } = share(() => [reply('One.'), reply('Two.')]);
  expect(messagesOf(await listener.ask('First.'))).toEqual(['user: First.', 'agent: One.']);
  expect(messagesOf(await listener.ask('Second.'))).toEqual(['user: Second.', 'agent: Two.']);
  expect(listener.exits).toEqual([]);
  const [first, second] = api.requests.slice(-2) as [MessagesRequest, MessagesRequest];
  expect(second.sessionId).toBe(first.sessionId);
  expect(JSON.stringify(second.body.messages)).toContain('One.');
});

test('a turn has the given id', async () => {
  const { listener, provider } = share(() => [reply('Yes.')]);
  const sent = await provider.sendMessage(listener.sessionId, 'Hm?', { turnId: 'my-turn' });
  expect(sent).toEqual({ turnId: 'my-turn' });
  expect((await listener.ended('my-turn')).status).toBe('complete');
});

test('a turn whose answers exceed the length limit again and again ends with that reason; an unknown reason is passed on unchanged', async () => {
  const stops = ['max_tokens', 'max_tokens', 'max_tokens', 'max_tokens', 'pause_turn'];
  const { listener } = share(() => stops.map((stopReason) => reply('Half.', { stopReason })));
  // Claude Code itself continues three times.
  expect(await listener.ask('Say much.')).toMatchObject({
    status: 'error',
    error: { message: expect.stringContaining('output token maximum') },
  });
  expect(await listener.ask('Go on.')).toMatchObject({
    status: 'complete',
    finishReason: 'pause_turn',
  });
});

test('TC-3.4a: cancelling interrupts the turn, which ends as cancelled; the session continues', async () => {
  const halfway = gate();
  const { listener, provider } = share(() => [
    reply(text(['Half a sent', halfway, 'ence.'])),
    reply('Yes.'),
  ]);
  const { turnId } = await listener.send('Talk.');
  await listener.event(({ type }) => type === 'item_delta');
  await provider.cancelTurn(listener.sessionId);
  const response = await listener.ended(turnId);
  expect(response.status).toBe('aborted');
  expect(messagesOf(response)).toEqual(['user: Talk.', 'agent: Half a sent']);
  await provider.cancelTurn(listener.sessionId);
  expect(messagesOf(await listener.ask('Still there?'))).toEqual([
    'user: Still there?',
    'agent: Yes.',
  ]);
});

/** Starts a turn, up to the middle of its answer. */
async function halfway() {
  const rest = gate();
  const { listener, provider } = share(() => [
    reply(text(['Half a sent', rest, 'ence.'])),
    reply('Yes.'),
  ]);
  const { turnId } = await listener.send('Talk.');
  await listener.event(({ type }) => type === 'item_delta');
  const cancel = async () => provider.cancelTurn(listener.sessionId);
  return { listener, turnId, rest, cancel, interrupt: vi.spyOn(running.at(-1)!, 'interrupt') };
}

test('FR-002-01: a failed interrupt is reported with its reason; the turn continues to its end, and then the session continues', async () => {
  const { listener, turnId, rest, cancel, interrupt } = await halfway();
  const cause = new Error('The pipe is closed.');
  interrupt.mockRejectedValueOnce(cause);
  await expect(cancel()).rejects.toMatchObject({
    code: 'INTERRUPT_FAILED',
    message: expect.stringContaining('The pipe is closed.'),
    cause,
  });
  expect(listener.response(turnId).status).toBe('in_progress');
  rest.open();
  expect(messagesOf(await listener.ended(turnId))).toEqual([
    'user: Talk.',
    'agent: Half a sentence.',
  ]);
  expect(messagesOf(await listener.ask('Still there?'))).toEqual([
    'user: Still there?',
    'agent: Yes.',
  ]);
});

test('a turn whose interrupt failed can be interrupted again', async () => {
  const { listener, turnId, cancel, interrupt } = await halfway();
  interrupt.mockRejectedValueOnce(new Error('Not now.'));
  await expect(cancel()).rejects.toMatchObject({ code: 'INTERRUPT_FAILED' });
  await cancel();
  expect((await listener.ended(turnId)).status).toBe('aborted');
});

test('TC-3.4a: a cancel right after the message is not lost', async () => {
  const never = gate();
  const { listener, provider } = share(() => () => held(never, reply('Too late.')));
  for (const message of ['First.', 'Second.', 'Third.']) {
    const sent = listener.send(message);
    await provider.cancelTurn(listener.sessionId);
    const { turnId } = await sent;
    expect((await listener.ended(turnId)).status).toBe('aborted');
  }
  never.open();
});

test('a cancel while a command runs ends the command', async () => {
  const { listener, provider } = share(() => [
    reply(toolUse('Bash', { command: 'tail -f notes.txt' })),
    reply('Back.'),
  ]);
  const { turnId } = await listener.send('Follow it.');
  await listener.event(
    (payload) => payload.type === 'item_done' && payload.finalItem.type === 'function_call',
  );
  await provider.cancelTurn(listener.sessionId);
  const response = await listener.ended(turnId);
  expect(response.status).toBe('aborted');
  expect(response.outputItems.at(-1)).toMatchObject({
    type: 'function_call_output',
    success: false,
  });
  expect(messagesOf(await listener.ask('Back?'))).toEqual(['user: Back?', 'agent: Back.']);
});

test('a turn that the agent begins by itself is a separate turn, and a message waits for its end', async () => {
  const report = gate();
  const command = 'until [ -e finish ]; do sleep 0.1; done; echo finished';
  const { listener, workspace } = share(() => [
    reply(toolUse('Bash', { command, run_in_background: true })),
    reply('Started.'),
    reply(text(['It has ', report, 'finished.'])),
    reply('Yes.'),
  ]);
  expect(messagesOf(await listener.ask('Start it.'))).toEqual([
    'user: Start it.',
    'agent: Started.',
  ]);
  await writeFile(join(workspace.projectDir, 'finish'), '');
  const start = await listener.event(
    (payload) => payload.type === 'response_start' && payload.trigger === 'agent',
  );
  await report.reached;
  const asked = listener.ask('Finished?');
  report.open();
  expect(messagesOf(await asked)).toEqual(['user: Finished?', 'agent: Yes.']);
  const unasked = listener.response(start.turnId);
  expect(unasked).toMatchObject({ status: 'complete', trigger: 'agent' });
  expect(messagesOf(unasked)).toEqual([
    `system: Background command "${command}" completed (exit code 0)`,
    'agent: It has finished.',
  ]);
});

test('background tasks are reported while they run, and can be stopped', async () => {
  const { listener, provider, workspace } = share(() => [
    reply(toolUse('Bash', { command: 'sleep 600', run_in_background: true })),
    reply('Started.'),
    reply('I see.'),
    reply('No.'),
  ]);
  const tasks = () => listener.updates.findLast((one) => one.tasks !== undefined)?.tasks ?? [];
  await listener.ask('Start it.');
  expect(tasks()).toEqual([
    {
      taskId: expect.any(String) as string,
      outputFile: expect.stringMatching(/\/tasks\/[\w-]+\.output$/) as string,
      title: 'sleep 600',
      kind: 'command',
      callId: expect.stringMatching(/^toolu_/) as string,
      startedAt: expect.stringMatching(/^\d{4}-/) as string,
    },
  ]);
  const { sessionId } = listener;
  const taskId = tasks()[0]?.taskId ?? '';
  await expect(provider.stopTask(sessionId, 'another')).rejects.toMatchObject({
    code: 'TASK_NOT_FOUND',
  });

  await provider.stopTask(sessionId, taskId);

  await expect.poll(tasks, { timeout: 30_000 }).toEqual([]);
  // The stop begins no turn, because a person requested it; the next turn mentions it.
  const next = await listener.ask('And now?');
  const told = ['user: And now?', expect.stringMatching(/^system: .*sleep 600/), 'agent: I see.'];
  expect(messagesOf(next)).toEqual(told);
  await listener.ask('Anything else?');
  const stored = await provider.readStoredHistory(sessionId, workspace.projectDir);
  const turns = foldTurns(stored.flatMap(({ events }) => events));
  expect([...turns.keys()].at(-2)).toBe(next.turnId);
  expect(messagesOf(turns.get(next.turnId)!)).toEqual(told);
});

test('a stop ends the turn, but not the background tasks', async () => {
  const slow = gate();
  const errand = { description: 'Inspect the notes', prompt: 'Inspect notes.txt' };
  const background = { run_in_background: true, subagent_type: 'general-purpose' };
  const { create, provider } = await runClaude(() =>
    withSubagents(
      [
        reply([
          toolUse('Bash', { command: 'sleep 600', run_in_background: true }),
          toolUse('Agent', { ...errand, ...background }),
        ]),
        reply(text(['Started', slow, '.'])),
        ...times(4, reply('I see.')),
      ],
      { 'Inspect notes.txt': [held(gate(), reply('No lines.'))] },
    ),
  );
  const listener = await create();
  const tasks = () => listener.updates.findLast((one) => one.tasks !== undefined)?.tasks ?? [];
  const titles = () =>
    tasks()
      .map(({ title }) => title)
      .toSorted();
  const { turnId } = await listener.send('Start them.');
  await slow.reached;
  await listener.until(() => titles().length === 2 || undefined);
  await provider.cancelTurn(listener.sessionId);
  expect((await listener.ended(turnId)).status).toBe('aborted');
  // The next turn shows that the interrupt is over and ended no background task.
  await listener.ask('And now?');
  expect(titles()).toEqual(['Inspect the notes', 'sleep 600']);
  const agent = tasks().find(({ kind }) => kind === 'agent');
  await provider.stopTask(listener.sessionId, agent!.taskId);
  await listener.until(() => titles().length === 1 || undefined);
  const words = 'The background task “Inspect the notes” was stopped.';
  await listener.event(
    (payload) =>
      payload.type === 'item_done' &&
      payload.finalItem.type === 'message' &&
      payload.finalItem.content === words,
  );
  await provider.killSession(listener.sessionId);
});

test('background tasks are reported until they end together with the agent', async () => {
  const { create, provider } = await runClaude(() => [
    reply(toolUse('Bash', { command: 'sleep 600', run_in_background: true })),
    reply('Started.'),
  ]);
  const listener = await create();
  await listener.ask('Start it.');
  await provider.killSession(listener.sessionId);
  const last = listener.updates.findLast((one) => one.tasks !== undefined);
  expect(last?.tasks).toMatchObject([{ title: 'sleep 600' }]);
});

test('the output of a background command and the activity of a subagent are reported while they run', async () => {
  const command = 'echo "3 of 8"; until [ -e go ]; do sleep 0.1; done; echo "8 of 8"';
  const errand = { description: 'Inspect the notes', prompt: 'Inspect notes.txt' };
  const done = gate();
  const { listener, workspace } = share(({ projectDir }) =>
    withSubagents(
      [
        reply([
          toolUse('Bash', { command, run_in_background: true }),
          toolUse('Agent', {
            ...errand,
            subagent_type: 'general-purpose',
            run_in_background: true,
          }),
        ]),
        ...times(4, reply('I see.')),
      ],
      {
        'Inspect notes.txt': [
          reply(toolUse('Read', { file_path: join(projectDir, 'notes.txt') })),
          held(done, reply('No lines.')),
        ],
      },
    ),
  );
  await listener.ask('Start them.');
  const tasks = () => listener.updates.findLast((one) => one.tasks !== undefined)?.tasks ?? [];
  const progress = () => tasks().map((task) => task.progress);
  await listener.until(() => progress().includes('3 of 8') || undefined);
  await listener.until(() => progress().includes('Reading notes.txt') || undefined);
  done.open();
  await writeFile(join(workspace.projectDir, 'go'), '');
  await listener.until(() => tasks().length === 0 || undefined);
  // The end of each task may begin a turn, or be reported in the turn that the end of the other task began.
  await listener.ask('And now?');
});

test('images and files reach the model byte for byte, and a mentioned file with its text', async () => {
  const { listener, api, provider, workspace } = share(() => [reply('Seen.')]);
  const { sessionId } = listener;
  const path = join(workspace.projectDir, 'src/greet.ts');
  const blocks: ContentBlock[] = [
    { type: 'image', mimeType: 'image/png', data: pixel },
    {
      type: 'resource',
      resource: { uri: 'blob:1', name: 'notes.md', mimeType: 'text/markdown', text: '# Ä\n' },
    },
    { type: 'resource_link', uri: pathToFileURL(path).href, name: 'src/greet.ts' },
  ];
  const { turnId } = await provider.sendMessage(sessionId, 'Look.', { blocks });
  const request = await api.request(({ prompt }) => prompt.startsWith('Look.'));
  const content = request.body.messages.flatMap((message) =>
    typeof message.content === 'string' ? [] : message.content,
  );
  expect(content).toContainEqual(
    expect.objectContaining({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: pixel },
    }),
  );
  expect(content).toContainEqual(
    expect.objectContaining({
      type: 'document',
      title: 'notes.md',
      source: { type: 'text', media_type: 'text/plain', data: '# Ä\n' },
    }),
  );
  expect(content).toContainEqual(
    expect.objectContaining({ type: 'text', text: expect.stringContaining(`Look.\n\n@${path}`) }),
  );
  // Claude Code itself reads a mentioned file.
  expect(JSON.stringify(content)).toContain('export const greet = 42;');

  await listener.ended(turnId);
  const stored = await provider.readStoredHistory(sessionId, workspace.projectDir);
  const mine = stored.find((turn) => turn.turnId === turnId);
  const shown = mine?.events.flatMap(({ payload }) =>
    payload.type === 'item_done' && 'blocks' in payload.finalItem ? payload.finalItem.blocks : [],
  );
  expect(shown).toMatchObject([
    { type: 'image', mimeType: 'image/png', data: pixel },
    { type: 'resource', resource: { name: 'notes.md', text: '# Ä\n' } },
  ]);
});

test('upserts and turn events are folded from the same events', async () => {
  const { listener, provider } = share(() => [reply('Hello.')]);
  const upserts: string[] = [];
  const turns: string[] = [];
  provider.onUpsert(listener.sessionId, (upsert) =>
    upserts.push(`${upsert.type} ${upsert.status}`),
  );
  provider.onTurn(listener.sessionId, (event) => turns.push(event.type));
  await listener.ask('Hi.');
  expect(upserts).toContain('message complete');
  expect(turns).toEqual(['turn_started', 'turn_complete']);
});

test('a turn’s input tokens are the total, including cache reads and writes', async () => {
  const usage = {
    input_tokens: 100,
    output_tokens: 5,
    cache_creation_input_tokens: 10,
    cache_read_input_tokens: 20,
  };
  const { listener } = share(() => ['One.', 'Two.'].map((one) => reply(one, { usage })));
  await listener.ask('First.');
  expect((await listener.ask('Second.')).usage).toMatchObject({
    inputTokens: 130,
    outputTokens: 5,
    cacheCreationInputTokens: 10,
    cacheReadInputTokens: 20,
    contextTokens: 135,
  });
});

test('usage is per turn and cost per session, also after a restart of the process', async () => {
  const { listener, provider } = share(() => ['One.', 'Two.', 'Three.'].map((one) => reply(one)));
  const before = (await listener.ask('First.')).usage!;
  const first = (await listener.ask('Second.')).usage;
  expect(first).toMatchObject({ inputTokens: 10, outputTokens: 5, contextTokens: 15 });
  const cost = first!.costUsd! - before.costUsd!;
  expect(cost).toBeGreaterThan(0);
  await provider.killSession(listener.sessionId);
  await provider.loadSession(listener.sessionId);
  const second = (await listener.ask('Third.')).usage;
  expect(second?.inputTokens).toBe(10);
  expect(second!.costUsd).toBeCloseTo(first!.costUsd! + cost, 8);
});
