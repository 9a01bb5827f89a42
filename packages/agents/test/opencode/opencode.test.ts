/** Tests the real opencode, which is configured only by its command, like any configured agent. */
import { randomUUID } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gate, reply, text, toolUse } from '@liminal/testkit';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import {
  emptyResponse,
  foldResponse,
  stampEvent,
  toResponse,
  type OutputItem,
  type Response,
} from '@liminal/protocol';
import { expect, test } from 'vitest';
import type { StoredTurn } from '../../src/contract/provider.ts';
import { Listener, messagesOf } from '../acp/running-agent.ts';
import { processesOf } from '../claude-code/processes.ts';
import { runOpencode } from './running-opencode.ts';

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

test('a fork has the whole session: it knows the earlier turn, and both sessions continue separately', async () => {
  const { provider, api, create, workspace } = await runOpencode(() =>
    ['One.', 'Two.', 'Three.'].map((words) => reply(words)),
  );
  const original = await create();
  const { turnId } = await original.ask('First question');
  expect(await provider.describe()).toMatchObject({ forks: true, forksWhole: true });

  const { projectDir } = workspace;
  const { agentSessionId } = await provider.fork(
    await original.agentSessionId(),
    projectDir,
    turnId,
  );
  const fork = new Listener(provider, randomUUID());
  await provider.loadSession(fork.sessionId, { projectDir, agentSessionId: agentSessionId! });
  expect(messagesOf(await fork.ask('Second question'))).toContain('agent: Two.');
  expect(messagesOf(await original.ask('Third question'))).toContain('agent: Three.');

  const asked = (question: string): string =>
    JSON.stringify(api.requests.find(({ prompt }) => prompt.includes(question))?.body.messages);
  expect(asked('Second')).toMatch(/First question.*One\..*Second question/s);
  expect(asked('Third')).toMatch(/First question.*One\..*Third question/s);
  expect(asked('Third')).not.toContain('Second question');
});

/** Returns a session whose model wants to edit `notes.txt`, and which waits for permission. */
async function editing() {
  const input = { oldString: 'two', newString: 'zwei' };
  const running = await runOpencode(
    ({ projectDir }) => [
      reply([
        text('I change it.'),
        toolUse(
          'edit',
          { filePath: join(projectDir, 'notes.txt'), ...input },
          { id: 'toolu_edit' },
        ),
      ]),
      reply('So it is.'),
    ],
    { 'notes.txt': 'one\ntwo\n' },
  );
  const path = join(running.workspace.projectDir, 'notes.txt');
  const listener = await running.create();
  const turnId = await listener.send('Change it.');
  const request = await listener.asked(turnId);
  const diff = { path, oldText: 'one\ntwo\n', newText: 'one\nzwei\n' };
  return { ...running, path, listener, turnId, request, input: { filePath: path, ...input }, diff };
}

testAtLength(
  'an edit waits for permission: the request names the file, and the call has its input and the change',
  async () => {
    const { listener, turnId, request, path, input, diff } = await editing();

    expect(request).toMatchObject({ title: path, callId: 'toolu_edit' });
    expect(request.options?.map(({ kind }) => kind)).toEqual([
      'allow_once',
      'allow_always',
      'reject_once',
    ]);
    const [call] = itemsOf(fold({ turnId, events: listener.of(turnId) }), 'function_call');
    expect(call).toMatchObject({ title: 'edit', kind: 'edit', diffs: [diff] });
    expect(JSON.parse(call?.arguments ?? '')).toEqual(input);
    expect(listener.of(turnId).at(-1)?.payload).toMatchObject({ itemType: 'approval' });
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
  },
);

testAtLength('an allowed edit is written, and its call keeps its input', async () => {
  const { listener, turnId, request, path, input } = await editing();

  await request.answer('once');

  const response = await listener.response(turnId);
  expect(messagesOf(response)).toEqual([
    'user: Change it.',
    'agent: I change it.',
    'agent: So it is.',
  ]);
  expect(await readFile(path, 'utf8')).toBe('one\nzwei\n');
  const [call, ...others] = itemsOf(response, 'function_call');
  expect(others).toEqual([]);
  expect(call).toMatchObject({ callId: 'toolu_edit', kind: 'edit', locations: [{ path }] });
  expect(JSON.parse(call?.arguments ?? '')).toEqual(input);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([
    { callId: 'toolu_edit', success: true },
  ]);
});

testAtLength('a refused edit is not written, and its call fails and keeps its input', async () => {
  const { listener, turnId, request, path, input } = await editing();

  await request.answer('reject');

  const response = await listener.response(turnId);
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
  expect(itemsOf(response, 'approval')).toMatchObject([
    { outcome: { outcome: 'selected', optionId: 'reject' } },
  ]);
  const [call] = itemsOf(response, 'function_call');
  expect(JSON.parse(call?.arguments ?? '')).toEqual(input);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([
    { callId: 'toolu_edit', success: false },
  ]);
});

testAtLength(
  'a turn that is cancelled during a text keeps the text so far, and the session continues',
  async () => {
    const { create, provider } = await runOpencode(() => [
      reply(text(['Half of', gate(), ' it.'])),
      reply('Back.'),
    ]);
    const listener = await create();
    const turnId = await listener.send('Take your time.');
    await listener.event(turnId, 'item_delta');

    await provider.cancelTurn(listener.sessionId);

    const response = await listener.response(turnId);
    expect(response.status).toBe('aborted');
    expect(messagesOf(response)).toEqual(['user: Take your time.', 'agent: Half of']);
    expect(messagesOf(await listener.ask('Back?'))).toEqual(['user: Back?', 'agent: Back.']);
  },
);

testAtLength(
  'a session whose process has ended is continued by another provider, which reads its history once and gives it to the model',
  async () => {
    const { create, provider, provide, workspace, api } = await runOpencode(() => [
      reply(toolUse('glob', { pattern: '*.txt' })),
      reply('I remember 42.'),
      reply('It was 42.'),
    ]);
    const { projectDir } = workspace;
    const before = await create();
    const live = await before.ask('Remember 42.');
    const agentSessionId = await before.agentSessionId();
    await provider.close();
    expect(processesOf(workspace.home)).toEqual([]);

    const later = provide();
    const history = (await later.readStoredHistory(agentSessionId, projectDir)).map(fold);
    const after = new Listener(later, before.sessionId);
    await later.loadSession(before.sessionId, { projectDir, agentSessionId });
    const next = await after.ask('What was it?');

    expect(history.map(messagesOf)).toEqual([messagesOf(live)]);
    const calls = (response: Response) =>
      itemsOf(response, 'function_call').map((call) => JSON.parse(call.arguments));
    expect(history.map(calls)).toEqual([calls(live)]);
    expect(messagesOf(next)).toEqual(['user: What was it?', 'agent: It was 42.']);
    expect(new Set(after.events.map(({ turnId }) => turnId)).size).toBe(1);
    const told = JSON.stringify(
      api.requests.findLast(({ kind }) => kind === 'main')?.body.messages,
    );
    expect(told.split('Remember 42.')).toHaveLength(2);
    expect(told.split('I remember 42.')).toHaveLength(2);
  },
);

testAtLength('a session is listed for its folder, by its own id', async () => {
  const { create, provider, workspace } = await runOpencode(() => [reply('Yes.')]);
  const listener = await create();
  await listener.ask('Is anything here?');

  expect(await provider.listStoredSessions(workspace.projectDir)).toMatchObject([
    { sessionId: await listener.agentSessionId(), projectDir: workspace.projectDir },
  ]);
});

test('INV-8: repeated text of the model is shown unchanged; no process of a command outlives its session', async () => {
  const all = ['slow '.repeat(40), 'The fox. The fox.', 'The fox. '.repeat(20), 'no\n\nno\n\n.'];
  const sayings = atLength ? all : all.slice(2);
  const chunks = atLength ? [1, 4, 9] : [9];
  const command = '(setsid sleep 300 >/dev/null 2>&1 &) ; touch begun; sleep 300';
  const { create, provider, workspace } = await runOpencode(() => [
    ...sayings.flatMap((saying) => chunks.map((chunk) => reply(text(saying, { chunk })))),
    reply(toolUse('bash', { command, description: 'Sleeps' })),
  ]);
  const listener = await create();
  for (const saying of sayings.flatMap((one) => chunks.map(() => one))) {
    expect(messagesOf(await listener.ask('Say it.'))).toEqual([
      'user: Say it.',
      `agent: ${saying}`,
    ]);
  }

  const turnId = await listener.send('Start it.');
  const request = await listener.asked(turnId);
  expect(request.title).toBe(command);
  await request.answer('once');
  await expect
    .poll(() => access(join(workspace.projectDir, 'begun')), { timeout: 30_000 })
    .toBeUndefined();
  expect(processesOf(workspace.home).length).toBeGreaterThan(2);

  await provider.killSession(listener.sessionId);

  expect(processesOf(workspace.home)).toEqual([]);
});
