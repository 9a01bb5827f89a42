import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  answer,
  applyPatch,
  customCall,
  execCommand,
  failed,
  functionCall,
  gate,
  greeter,
  httpError,
  message,
  pixel,
  reasoning,
  updatePlan,
  viewImage,
  type ModelScript,
} from '@liminal/testkit';
import type { OutputItem, Response } from '@liminal/protocol';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { foldTurn } from '../../src/testing/folding.ts';
import { messagesOf } from '../acp/running-agent.ts';
import { commandsIn, mcpServersIn } from './processes.ts';
import { runCodex, sharedCodex } from './running-codex.ts';

const itemsOf = <T extends OutputItem['type']>({ outputItems }: Response, type: T) =>
  outputItems.filter((item): item is Extract<OutputItem, { type: T }> => item.type === type);

/** Codex asks before it runs a command outside of the sandbox. */
const asking = { approvalPolicy: 'on-request', sandbox: 'read-only' } as const;

const share = sharedCodex({ files: { 'notes.txt': 'one\ntwo\n', hold: '' } });
const shareAsking = sharedCodex({ codex: asking });

const patience = { timeout: 30_000, interval: 50 };

test('TC-4.2a: the model’s text is streamed as one message that grows', async () => {
  const middle = gate();
  const { create } = await share(() => [answer(message(['Half of', middle, ' it all.']))]);
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

test('a command that outlives its turn is listed while it runs, and the next turn shows its end and whole output', async () => {
  const waits = 'echo begun; until [ -e go ]; do sleep 0.05; done; echo done; sleep 0.3';
  const { create, workspace } = await share(() => [
    answer(execCommand(waits, { yieldMs: 250, callId: 'call_wait' })),
    answer('It runs on.'),
    answer('It has ended.'),
  ]);
  const listener = await create();
  const tasks = () => listener.updates.findLast((one) => one.tasks !== undefined)?.tasks;

  await listener.ask('Do it.');
  const [task] = await listener.until(() => tasks()?.length === 1 && tasks());
  expect(task).toMatchObject({ taskId: 'call_wait', callId: 'call_wait', kind: 'command' });
  expect(task?.title).toContain('until [ -e go ]');
  await writeFile(join(workspace.projectDir, 'go'), '');
  await listener.until(() => tasks()?.length === 0);

  const response = await listener.ask('And now?');
  expect(messagesOf(response)).toEqual(['user: And now?', 'agent: It has ended.']);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([
    { callId: 'call_wait', output: 'begun\ndone\n', success: true, exitCode: 0 },
  ]);
});

testAtLength('a command that outlives its turn can be stopped', async () => {
  const { create, provider, workspace } = await share(() => [
    answer(execCommand('sleep 600', { yieldMs: 250 })),
    answer('It runs on.'),
  ]);
  const listener = await create();
  const tasks = () => listener.updates.findLast((one) => one.tasks !== undefined)?.tasks;
  await listener.ask('Do it.');
  const [task] = await listener.until(() => tasks()?.length === 1 && tasks());
  const stop = async (taskId: string) => provider.stopTask?.(listener.sessionId, taskId);
  await expect(stop('another')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });

  await stop(task!.taskId);

  await listener.until(() => tasks()?.length === 0);
  await expect.poll(() => commandsIn(workspace.home), patience).toEqual([]);
});

test('images reach the model with unchanged bytes, and files and links as text', async () => {
  const { create, provider, api, workspace } = await share(() => [answer('Seen.')]);
  const listener = await create();
  const { turnId } = await provider.sendMessage(listener.sessionId, 'Look.', {
    blocks: [
      { type: 'image', mimeType: 'image/png', data: pixel },
      {
        type: 'resource',
        resource: { uri: 'blob:1', name: 'notes.md', mimeType: 'text/markdown', text: '# Ä' },
      },
      { type: 'resource_link', uri: 'file:///code/a%20b.ts', name: 'a b.ts' },
    ],
  });
  await listener.ended(turnId);
  const input = JSON.stringify(api.requests.at(-1)?.body.input);
  expect(input).toContain(`data:image/png;base64,${pixel}`);
  expect(input).toContain(
    'Look.\\n\\n<file name=\\"notes.md\\">\\n# Ä\\n</file>\\n\\n/code/a b.ts',
  );
  const threadId = await listener.agentSessionId();
  const [stored] = await provider.readStoredHistory(threadId, workspace.projectDir);
  expect(JSON.stringify(stored?.events)).toContain(
    JSON.stringify([{ type: 'image', mimeType: 'image/png', data: pixel }]),
  );
});

test('the used part of each usage window is reported with the model’s answers', async () => {
  const headers = {
    'x-codex-primary-used-percent': '42',
    'x-codex-primary-window-minutes': '300',
    'x-codex-primary-reset-at': '1795400447',
    'x-codex-secondary-used-percent': '7',
    'x-codex-secondary-window-minutes': '10080',
    'x-codex-secondary-reset-at': '1795500447',
  };
  const { create } = await share(() => [answer('Hello.', { headers })]);
  const listener = await create();

  await listener.ask('Hi.');

  const told = await listener.until(() =>
    listener.updates.findLast(({ limits }) => limits !== undefined),
  );
  expect(told.limits).toEqual([
    { name: '5-hour limit', usedPercent: 42, resetsAt: '2026-11-23T02:20:47.000Z' },
    { name: 'weekly limit', usedPercent: 7, resetsAt: '2026-11-24T06:07:27.000Z' },
  ]);
});

test('TC-4.2b, TC-4.2c: a command is shown when it starts, and with its output when it is done', async () => {
  const { create } = await share(() => [
    answer([message('Looking.'), execCommand('echo found; exit 3', { callId: 'call_look' })]),
    answer('There.'),
  ]);
  const listener = await create();

  const response = await listener.ask('Look.');

  const told = listener.upserts.filter((one) => one.type === 'tool_call');
  expect(told.map(({ status }) => status)).toEqual(['create', 'complete']);
  expect(told[0]).toMatchObject({
    callId: 'call_look',
    title: 'Run echo found; exit 3',
    kind: 'execute',
    toolName: expect.stringMatching(/\w/),
  });
  expect(told[1]).toMatchObject({
    callId: 'call_look',
    toolArguments: { command: 'echo found; exit 3' },
    toolOutput: 'found\n',
    toolOutputIsError: true,
    exitCode: 3,
  });
  expect(messagesOf(response)).toEqual(['user: Look.', 'agent: Looking.', 'agent: There.']);
});

test('a command’s output is streamed while the command runs', async () => {
  const { create, workspace } = await share(() => [
    answer(execCommand('while [ -e hold ]; do echo more; sleep 0.1; done', { yieldMs: 20_000 })),
    answer('Enough.'),
  ]);
  const listener = await create();
  const turnId = await listener.send('Go on until I stop you.');

  await listener.until(() =>
    listener
      .of(turnId)
      .some(({ payload }) => payload.type === 'item_delta' && /more\n/.test(payload.deltaContent)),
  );
  await rm(join(workspace.projectDir, 'hold'));

  const response = await listener.response(turnId);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([
    { success: true, exitCode: 0, output: expect.stringMatching(/^(more\n)+$/) },
  ]);
});

test('repeated text is shown exactly', async () => {
  const sayings = ['slow '.repeat(40), 'The fox. The fox.', 'The fox. '.repeat(20), 'no\n\nno\n\n'];
  const chunks = atLength ? [1, 4, 9] : [1, 4];
  const { create } = await share(() =>
    sayings.flatMap((text) => chunks.map((chunk) => answer(message(text, { chunk })))),
  );
  const listener = await create();
  for (const text of sayings.flatMap((one) => chunks.map(() => one))) {
    expect(messagesOf(await listener.ask('Say it.'))).toEqual(['user: Say it.', `agent: ${text}`]);
  }
});

test('reasoning in parts is shown as Codex sends it, and a plan with its progress', async () => {
  const { create } = await share(() => [
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

  expect(itemsOf(response, 'reasoning').map(({ content }) => content)).toEqual([
    '**One** first\n\n**Two** second\n\n**Three** third',
  ]);
  expect(itemsOf(response, 'plan').at(-1)?.entries).toMatchObject([
    { content: 'Look', status: 'completed' },
    { content: 'Change', status: 'in_progress' },
  ]);
});

test('a patch is shown as diffs', async () => {
  const { create, workspace } = await share(() => [
    answer(applyPatch(['*** Update File: notes.txt', '@@', ' one', '-two', '+zwei'])),
    answer('Changed.'),
  ]);
  const listener = await create();

  const response = await listener.ask('Change it.');

  const path = join(workspace.projectDir, 'notes.txt');
  expect(await readFile(path, 'utf8')).toBe('one\nzwei\n');
  const diff = { path, oldText: 'one\ntwo\n', newText: 'one\nzwei\n' };
  expect(itemsOf(response, 'function_call')).toMatchObject([
    { kind: 'edit', title: 'Edit notes.txt', locations: [{ path }], diffs: [diff] },
  ]);
});

test('texts before and after a tool that Codex does not report are two messages', async () => {
  const { create } = await share(() => [
    answer([message('I change it.'), customCall('apply_patch', 'no patch')]),
    answer('Done.'),
  ]);
  const response = await (await create()).ask('Change it.');
  expect(messagesOf(response)).toEqual(['user: Change it.', 'agent: I change it.', 'agent: Done.']);
});

test('a command that was allowed runs', async () => {
  const { create, workspace } = await shareAsking(() => [
    answer(execCommand('echo made > made.txt', { escalate: 'It must be made.' })),
    answer('Made.'),
  ]);
  const listener = await create();
  const turnId = await listener.send('Make it.');
  const request = await listener.asked(turnId);
  expect(request).toMatchObject({ description: 'It must be made.', callId: expect.any(String) });
  expect(request.title).toContain('echo made > made.txt');

  await request.answer('accept');

  expect(messagesOf(await listener.response(turnId))).toContain('agent: Made.');
  expect(await readFile(join(workspace.projectDir, 'made.txt'), 'utf8')).toBe('made\n');
});

test('a refused command does not run, the model gets the refusal, and the turn continues', async () => {
  const { create, workspace, api } = await shareAsking(() => [
    answer(execCommand('touch refused.txt', { escalate: 'It must be made.' })),
    answer('What then?'),
  ]);
  const listener = await create();
  const turnId = await listener.send('Make it.');
  const { answer: reply } = await listener.asked(turnId);

  await reply('decline');

  const response = await listener.response(turnId);
  expect(messagesOf(response)).toEqual(['user: Make it.', 'agent: What then?']);
  expect(itemsOf(response, 'approval')).toMatchObject([
    { outcome: { outcome: 'selected', optionId: 'decline' } },
  ]);
  expect(JSON.stringify(api.requests.at(-1)?.body.input.at(-1))).toContain('rejected by user');
  await expect(access(join(workspace.projectDir, 'refused.txt'))).rejects.toThrow('ENOENT');
});

test('TC-3.4a, INV-8: cancelling a turn ends its running command, and the session continues', async () => {
  const { create, provider, workspace } = await runCodex(
    () => [
      answer(execCommand('while [ -e hold ]; do echo more; sleep 0.1; done', { yieldMs: 20_000 })),
      answer('Back.'),
    ],
    { files: { hold: '' }, mcpServers: { own: greeter() } },
  );
  const listener = await create();
  const running = () => commandsIn(workspace.home);
  const servers = () => mcpServersIn(workspace.home);
  await expect.poll(servers, patience).toHaveLength(1);
  const own = servers();
  const turnId = await listener.send('Go on until I stop you.');
  await listener.event(turnId, 'item_delta');
  expect(running().length).toBeGreaterThan(1);

  await provider.cancelTurn(listener.sessionId);

  const response = await listener.response(turnId);
  expect(response.status).toBe('aborted');
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
  await expect.poll(running, patience).toEqual(own);
  expect(messagesOf(await listener.ask('Back?'))).toEqual(['user: Back?', 'agent: Back.']);
});

test('a model’s errors are shown in the server’s words', async () => {
  const { create } = await share(() => [
    httpError(400, 'The request makes no sense.'),
    failed('insufficient_quota', 'You exceeded your current quota.'),
    answer('Better now.'),
  ]);
  const listener = await create();

  const [bad, quota] = [await listener.ask('First.'), await listener.ask('Second.')];

  expect([bad.status, quota.status]).toEqual(['error', 'error']);
  expect(bad.error?.message).toContain('The request makes no sense.');
  expect(bad.error?.message).not.toMatch(/[{}]/);
  expect(quota.error?.message).toContain('Quota exceeded.');
  expect(messagesOf(await listener.ask('Third.'))).toEqual(['user: Third.', 'agent: Better now.']);
});

test('a message directly after a failed turn is answered', async () => {
  const { create } = await share(
    () =>
      ({ prompt }) =>
        prompt.startsWith('Fail') ? httpError(400) : answer('Fine.'),
  );
  const listener = await create();
  for (let round = 0; round < 4; round += 1) {
    expect((await listener.ask(`Fail ${round}.`)).status).toBe('error');
    expect(messagesOf(await listener.ask(`Again ${round}.`))).toContain('agent: Fine.');
  }
});

const taskTool = (name: string, input: Record<string, unknown>) =>
  functionCall(name, input, { namespace: 'multi_agent_v1' });

/** A model that delegates a task and waits for its end. @param does - The answer to the subagent. */
const delegating =
  (does: Parameters<typeof answer>[0]): ModelScript =>
  ({ prompt, body: { input } }) => {
    const told = (Array.isArray(input) ? input : []).flatMap((item) =>
      item.type === 'function_call_output' ? [String(item.output)] : [],
    );
    if (prompt === 'You count.') return told.length === 0 ? answer(does) : answer('I counted 2.');
    if (told.length === 0) return answer(taskTool('spawn_agent', { message: 'You count.' }));
    if (told.length > 1) return answer('It has counted.');
    const { agent_id: id } = JSON.parse(told[0] ?? '{}') as { agent_id?: string };
    return answer(taskTool('wait_agent', { targets: [id] }));
  };

test('the items of a delegated task are shown under its call', async () => {
  const { create } = await share(() =>
    delegating([message('I count.'), execCommand('wc -l < notes.txt')]),
  );
  const listener = await create();

  const response = await listener.ask('Have it counted.');

  const [spawn, ...calls] = itemsOf(response, 'function_call');
  expect(spawn).toMatchObject({ kind: 'think', title: 'Delegate: You count.' });
  const ofTask = response.outputItems.filter(({ parentCallId }) => parentCallId !== undefined);
  expect(new Set(ofTask.map(({ parentCallId }) => parentCallId))).toEqual(new Set([spawn?.callId]));
  expect(ofTask.map((item) => ('output' in item ? item.output : item.type))).toEqual(
    expect.arrayContaining(['message', 'function_call', '2\n', 'message']),
  );
  expect(calls.map(({ title }) => title)).toEqual(
    expect.arrayContaining(['Run wc -l < notes.txt', 'Wait for agents']),
  );
  const own = response.outputItems.filter(({ parentCallId }) => parentCallId === undefined);
  expect(messagesOf({ ...response, outputItems: own })).toEqual([
    'user: Have it counted.',
    'agent: It has counted.',
  ]);
  const told = itemsOf(response, 'function_call_output').find(
    ({ callId }) => callId === calls.find(({ title }) => title === 'Wait for agents')?.callId,
  );
  expect(told?.output).toBe('I counted 2.');
});

test('INV-8: stopping a turn stops its delegated tasks', async () => {
  const { create, provider, workspace, api } = await share(() =>
    delegating([execCommand('sleep 300', { yieldMs: 20_000 })]),
  );
  const listener = await create();
  const turnId = await listener.send('Have it counted.');
  await api.request(({ prompt }) => prompt === 'You count.');
  await expect.poll(() => commandsIn(workspace.home), patience).toHaveLength(1);
  await listener.until(() =>
    listener
      .of(turnId)
      .find(({ payload }) => 'title' in payload && payload.title === 'Wait for agents'),
  );

  await provider.cancelTurn(listener.sessionId);

  expect((await listener.response(turnId)).status).toBe('aborted');
  await expect.poll(() => commandsIn(workspace.home), patience).toEqual([]);
  // The wait was cut off, so the model does not repeat it.
  expect(messagesOf(await listener.ask('And now?'))).toContain('agent: It has counted.');
  expect(api.requests.filter(({ prompt }) => prompt === 'You count.')).toHaveLength(1);
});

test('an image in a tool’s result is shown with its bytes, live and from history', async () => {
  const { create, provider, workspace } = await runCodex(
    () => [answer(functionCall('show', {}, { namespace: 'mcp__own' })), answer('Shown.')],
    { mcpServers: { own: greeter() } },
  );
  const listener = await create();
  const shown = (items: readonly OutputItem[]) =>
    items.flatMap((item) => (item.type === 'function_call_output' ? (item.blocks ?? []) : []));

  const { outputItems } = await listener.ask('Show it.');

  expect(shown(outputItems)[0]).toEqual({ type: 'image', mimeType: 'image/png', data: pixel });
  const stored = await provider.readStoredHistory(
    await listener.agentSessionId(),
    workspace.projectDir,
  );
  const told = stored.map(({ turnId, events }) => foldTurn(events, turnId));
  expect(told.map((response) => shown(response.outputItems))).toEqual([shown(outputItems)]);
});

test('an image that the model views is shown to people, unless it is too large', async () => {
  const { create, workspace } = await share(({ projectDir }) => [
    answer(viewImage(join(projectDir, 'pixel.png'))),
    answer(viewImage(join(projectDir, 'large.png'))),
    answer('Seen.'),
  ]);
  const file = (name: string) => join(workspace.projectDir, name);
  const picture = Buffer.from(pixel, 'base64');
  await writeFile(file('pixel.png'), picture);
  await writeFile(file('large.png'), Buffer.concat([picture, Buffer.alloc(9 * 1024 * 1024)]));
  const listener = await create();

  const response = await listener.ask('Look.');

  const image = { type: 'image', mimeType: 'image/png', data: pixel };
  const link = { type: 'resource_link', uri: pathToFileURL(file('large.png')).href };
  expect(itemsOf(response, 'function_call_output').map(({ blocks }) => blocks)).toMatchObject([
    [{ ...image, name: 'pixel.png' }],
    [{ ...link, name: 'large.png' }],
  ]);
});
