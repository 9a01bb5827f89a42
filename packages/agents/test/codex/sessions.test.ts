import { randomUUID } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answer,
  byModelPrompt,
  execCommand,
  gate,
  held,
  message,
  reasoning,
  type ModelReply,
} from '@liminal/testkit';
import {
  emptyResponse,
  foldResponse,
  stampEvent,
  toResponse,
  type Response,
} from '@liminal/protocol';
import { expect, test } from 'vitest';
import { SessionInUseError } from '../../src/contract/errors.ts';
import type { StoredTurn } from '../../src/contract/provider.ts';
import { Listener, messagesOf } from '../acp/running-agent.ts';
import { processesOf } from '../claude-code/processes.ts';
import { codexProcesses } from './processes.ts';
import { runCodex, sharedCodex } from './running-codex.ts';

const share = sharedCodex();

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

test('TC-4.1a: a new session has Codex’ own id, settings and commands', async () => {
  const { create, provider } = await share(() => []);
  const listener = await create();

  expect(provider.isAlive(listener.sessionId)).toBe(true);
  expect(await listener.agentSessionId()).toMatch(/^[0-9a-f-]{36}$/);
  expect(['mode', 'model', 'reasoning_effort'].map((id) => listener.option(id))).toEqual([
    'full-access',
    'scripted',
    'medium',
  ]);
  const { commands } = await listener.until(() => listener.updates.find((one) => one.commands));
  expect(commands?.map(({ name }) => name)).toContain('compact');
});

test('initial and later settings of a session reach the model', async () => {
  const { create, provider, api } = await share(() => [answer('One.'), answer('Two.')]);
  const listener = await create({ reasoning_effort: 'high' });
  await listener.ask('First.');

  await provider.setConfigOption(listener.sessionId, 'model', 'scripted-mini');
  await listener.ask('Second.');

  expect(listener.option('model')).toBe('scripted-mini');
  expect(api.requests.map(({ body }) => [body.model, body['reasoning']])).toMatchObject([
    ['scripted', { effort: 'high' }],
    ['scripted-mini', { effort: 'low' }],
  ]);
});

test('TC-4.1c: sending resolves when the turn has begun, not when it has ended', async () => {
  const silence = gate();
  const { create, api } = await share(() => [held(silence, answer('Done.'))]);
  const listener = await create();

  const turnId = await listener.send('Take your time.');

  expect(listener.of(turnId)[0]?.payload).toMatchObject({
    type: 'response_start',
    trigger: 'user',
  });
  expect((await api.request(({ prompt }) => prompt === 'Take your time.')).body.stream).toBe(true);
  expect(listener.turns.map(({ type }) => type)).toEqual(['turn_started']);
  silence.open();
  expect(messagesOf(await listener.response(turnId))).toEqual([
    'user: Take your time.',
    'agent: Done.',
  ]);
});

const eventful: ModelReply[] = [
  answer([
    reasoning(['**First** I look.', '**Then** I change.']),
    message('Looking.'),
    execCommand('echo broken; exit 3'),
  ]),
  answer('It is broken.'),
];

test('TC-4.1b: another provider reads the whole history once, and continues the session', async () => {
  const {
    create,
    provide,
    provider: first,
    workspace,
    api,
  } = await share(() => byModelPrompt({ first: eventful, second: [answer('And on.')] }));
  const { projectDir } = workspace;
  const before = await create();
  const live = await before.ask('The first question.');
  const sessionId = await before.agentSessionId();

  await first.killSession(before.sessionId);

  const provider = provide();
  const history = (await provider.readStoredHistory(sessionId, projectDir)).map(fold);
  const after = new Listener(provider, sessionId);
  await provider.loadSession(sessionId, { projectDir });
  const next = await after.ask('The second question.');

  expect(history.map(messagesOf)).toEqual([messagesOf(live)]);
  const shown = ({ outputItems }: Response) =>
    outputItems.map((item) => ('exitCode' in item ? `${item.type} ${item.exitCode}` : item.type));
  expect(history.map(shown)).toEqual([shown(live)]);
  // The model gets the earlier conversation, but only the new turn is emitted.
  expect(messagesOf(next)).toEqual(['user: The second question.', 'agent: And on.']);
  expect(JSON.stringify(api.requests.at(-1)?.body.input)).toContain('It is broken.');
  expect([...new Set(after.events.map(({ turnId }) => turnId))]).toHaveLength(1);
});

test('a session that another program has open cannot be opened, and the error says so', async () => {
  const { create, provide, provider, workspace } = await share(() => [
    answer('One.'),
    answer('Two.'),
  ]);
  const { projectDir } = workspace;
  const here = await create();
  await here.ask('The first.');
  const agentSessionId = await here.agentSessionId();
  const another = provide();
  const there = new Listener(another, randomUUID());
  const open = () => another.loadSession(there.sessionId, { projectDir, agentSessionId });

  const refusal = open();
  await expect(refusal).rejects.toThrow(/Another program has this session open/);
  await expect(refusal).rejects.toBeInstanceOf(SessionInUseError);
  await provider.killSession(here.sessionId);

  await open();
  expect(messagesOf(await there.ask('The second.'))).toEqual(['user: The second.', 'agent: Two.']);
});

test('stored sessions are listed with their first question, newest first', async () => {
  const { create, provide, workspace } = await runCodex(() => [answer('Yes.'), answer('Yes.')]);
  const listener = await create();
  await listener.ask('Is anything here?');

  const provider = provide();

  expect(await provider.listStoredSessions(workspace.projectDir)).toMatchObject([
    { sessionId: await listener.agentSessionId(), title: 'Is anything here?' },
  ]);
  expect(await provider.listStoredSessions('/nowhere')).toEqual([]);
  // The list has a session of another provider immediately.
  const other = await create();
  await other.ask('And here?');
  const titles = (await provider.listStoredSessions()).map(({ title }) => title);
  expect(titles).toEqual(['And here?', 'Is anything here?']);
});

test('INV-8: a crash during a text ends the turn; the loaded session continues, and no process of a command outlives the session', async () => {
  const middle = gate();
  const { create, provider, workspace } = await runCodex(() =>
    byModelPrompt({
      first: [answer('One.')],
      second: [answer(message(['Half of', middle, ' it']))],
      third: [answer('Three.')],
      last: [
        answer(execCommand('(setsid sleep 300 &) ; touch begun; sleep 300', { yieldMs: 300 })),
        answer('It runs.'),
      ],
    }),
  );
  const listener = await create();
  await listener.ask('The first.');
  const turnId = await listener.send('The second.');
  await listener.event(turnId, 'item_delta');

  for (const pid of codexProcesses(workspace.home)) process.kill(pid, 'SIGKILL');

  const broken = await listener.response(turnId);
  expect(broken).toMatchObject({ status: 'error', error: { code: 'PROCESS_CRASH' } });
  expect(messagesOf(broken)).toEqual(['user: The second.', 'agent: Half of']);
  await listener.until(() => listener.exits[0]);
  await provider.loadSession(listener.sessionId);
  expect(messagesOf(await listener.ask('The third.'))).toEqual([
    'user: The third.',
    'agent: Three.',
  ]);

  await listener.ask('The last.');
  await access(join(workspace.projectDir, 'begun'));
  const sleeping = processesOf(workspace.home).filter((pid) => pid !== process.pid);
  expect(sleeping.length).toBeGreaterThan(2);
  await provider.killSession(listener.sessionId);
  expect(processesOf(workspace.home)).toEqual([]);
});

test('two sessions get their own answers at the same time', async () => {
  const middle = gate();
  const { create, workspace } = await share(() =>
    byModelPrompt({
      first: [answer(message(['One begins', middle, ' and ends.']))],
      second: [answer(execCommand('echo two > two.txt')), answer('Two.')],
    }),
  );
  const [one, two] = await Promise.all([create(), create()]);
  const turnId = await one.send('The first.');
  await one.event(turnId, 'item_delta');

  expect(messagesOf(await two.ask('The second.'))).toEqual(['user: The second.', 'agent: Two.']);
  middle.open();

  expect(messagesOf(await one.response(turnId))).toEqual([
    'user: The first.',
    'agent: One begins and ends.',
  ]);
  expect(await readFile(join(workspace.projectDir, 'two.txt'), 'utf8')).toBe('two\n');
});
