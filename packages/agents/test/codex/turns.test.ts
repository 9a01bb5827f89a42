import { randomUUID } from 'node:crypto';
import { access, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  acpAgent,
  answer,
  applyPatch,
  contractPrompts,
  contractScript,
  customCall,
  execCommand,
  failed,
  gate,
  greeter,
  httpError,
  makeWorkspace,
  message,
  pause,
  reasoning,
  updatePlan,
} from '@liminal/testkit';
import type { OutputItem, Response } from '@liminal/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { createCodexProvider } from '../../src/codex/index.ts';
import { Listener, said } from '../acp/running-agent.ts';
import { commandsIn } from './processes.ts';
import { runCodex } from './running-codex.ts';

const itemsOf = <T extends OutputItem['type']>({ outputItems }: Response, type: T) =>
  outputItems.filter((item): item is Extract<OutputItem, { type: T }> => item.type === type);

const patience = { timeout: 30_000, interval: 50 };

/** Answers after a pause: Codex may not report the end of a command if its model answers at once. */
const afterwards = (text: string) => answer(message([pause(300), text]));

test('TC-4.2a: what the model says arrives as it is said, as one message that grows', async () => {
  const middle = gate();
  const { create } = await runCodex(() => [answer(message(['Half of', middle, ' it all.']))]);
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

test('TC-4.2b, TC-4.2c: a command is shown when it is called, and with its output when it is done', async () => {
  const { create } = await runCodex(() => [
    answer([message('Looking.'), execCommand('echo found; exit 3', { callId: 'call_look' })]),
    afterwards('There.'),
  ]);
  const listener = await create();

  const response = await listener.ask('Look.');

  const told = listener.upserts.filter((one) => one.type === 'tool_call');
  expect(told.map(({ status }) => status)).toEqual(['create', 'complete']);
  expect(told[0]).toMatchObject({
    callId: 'call_look',
    title: 'echo found; exit 3',
    kind: 'execute',
    toolName: expect.stringMatching(/\w/),
  });
  expect(told[1]).toMatchObject({
    callId: 'call_look',
    toolArguments: { command: expect.arrayContaining(['echo found; exit 3']) },
    toolOutput: 'found\n',
    toolOutputIsError: true,
    exitCode: 3,
  });
  expect(said(response)).toEqual(['user: Look.', 'agent: Looking.', 'agent: There.']);
});

test('a command’s output is told while the command runs', async () => {
  const { create, workspace } = await runCodex(
    () => [
      answer(execCommand('while [ -e hold ]; do echo more; sleep 0.1; done', { yieldMs: 20_000 })),
      afterwards('Enough.'),
    ],
    { files: { hold: '' } },
  );
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

test('what the model says twice is shown twice, to the letter', async () => {
  const sayings = ['slow '.repeat(40), 'The fox. The fox.', 'The fox. '.repeat(20), 'no\n\nno\n\n'];
  const { create } = await runCodex(() =>
    sayings.flatMap((text) => [1, 4, 9].map((chunk) => answer(message(text, { chunk })))),
  );
  const listener = await create();
  for (const text of sayings.flatMap((one) => [one, one, one])) {
    expect(said(await listener.ask('Say it.'))).toEqual(['user: Say it.', `agent: ${text}`]);
  }
});

test('a thought in parts is told as Codex tells it, and a plan as it goes on', async () => {
  const { create } = await runCodex(() => [
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
  // Codex says all parts but the first again.
  expect(thought.join('')).toBe(
    '\n\n**One** first\n\n**Two** second\n\n**Three** third**Two** second**Three** third',
  );
  expect(itemsOf(response, 'plan').at(-1)?.entries).toMatchObject([
    { content: 'Look', status: 'completed' },
    { content: 'Change', status: 'in_progress' },
  ]);
});

test('a patch is told as what it changes', async () => {
  const { create, workspace } = await runCodex(
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
  const diff = { path, oldText: 'one\ntwo\n', newText: 'one\nzwei\n' };
  const [call] = itemsOf(response, 'function_call');
  const [output] = itemsOf(response, 'function_call_output');
  expect(call).toMatchObject({ kind: 'edit', locations: [{ path }] });
  expect(output?.diffs ?? call?.diffs).toEqual([diff]);
});

test('words before and after a tool that Codex does not report are two messages', async () => {
  const { create } = await runCodex(() => [
    answer([message('I change it.'), customCall('apply_patch', 'no patch')]),
    answer('Done.'),
  ]);
  const response = await (await create()).ask('Change it.');
  expect(said(response)).toEqual(['user: Change it.', 'agent: I change it.', 'agent: Done.']);
});

test('a command that was allowed runs', async () => {
  const { create, workspace } = await runCodex(
    () => [answer(execCommand('echo made > made.txt')), afterwards('Made.')],
    { codex: { approvalPolicy: 'untrusted' } },
  );
  const listener = await create();
  const turnId = await listener.send('Make it.');
  const request = await listener.asked(turnId);
  expect(request.title).toContain('echo made > made.txt');

  await request.answer('approved');

  expect(said(await listener.response(turnId))).toContain('agent: Made.');
  expect(await readFile(join(workspace.projectDir, 'made.txt'), 'utf8')).toBe('made\n');
});

test('a command that was refused does not run; its call is closed, and the turn ends', async () => {
  const { create, workspace } = await runCodex(
    () => [answer(execCommand('touch made.txt')), answer('What then?')],
    { codex: { approvalPolicy: 'untrusted' } },
  );
  const listener = await create();
  const turnId = await listener.send('Make it.');
  const { answer: reply } = await listener.asked(turnId);

  await reply('abort');

  const response = await listener.response(turnId);
  expect(response.status).toBe('aborted');
  expect(itemsOf(response, 'approval')).toMatchObject([
    { outcome: { outcome: 'selected', optionId: 'abort' } },
  ]);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
  await expect(access(join(workspace.projectDir, 'made.txt'))).rejects.toThrow('ENOENT');
  expect(said(await listener.ask('Then not.'))).toEqual(['user: Then not.', 'agent: What then?']);
});

test('TC-3.4a, INV-8: a turn that is cancelled while a command runs ends it, and the session goes on', async () => {
  const { create, provider, workspace } = await runCodex(
    () => [
      answer(execCommand('while [ -e hold ]; do echo more; sleep 0.1; done', { yieldMs: 20_000 })),
      answer('Back.'),
    ],
    { files: { hold: '' }, mcpServers: { own: greeter() } },
  );
  const listener = await create();
  const running = () => commandsIn(workspace.home);
  await expect.poll(running, patience).toHaveLength(1);
  const [server] = running();
  const turnId = await listener.send('Go on until I stop you.');
  await listener.event(turnId, 'item_delta');
  expect(running().length).toBeGreaterThan(1);

  await provider.cancelTurn(listener.sessionId);

  const response = await listener.response(turnId);
  expect(response.status).toBe('aborted');
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
  await expect.poll(running, patience).toEqual([server]);
  expect(said(await listener.ask('Back?'))).toEqual(['user: Back?', 'agent: Back.']);
});

test('a model’s errors are told in its own words', async () => {
  const { create } = await runCodex(() => [
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
  expect(said(await listener.ask('Third.'))).toEqual(['user: Third.', 'agent: Better now.']);
});

test('a message that follows a failed turn at once is answered', async () => {
  const { create } = await runCodex(
    () =>
      ({ prompt }) =>
        prompt.startsWith('Fail') ? httpError(400) : answer('Fine.'),
  );
  const listener = await create();
  // Codex loses one in ten.
  for (let round = 0; round < 4; round += 1) {
    expect((await listener.ask(`Fail ${round}.`)).status).toBe('error');
    expect(said(await listener.ask(`Again ${round}.`))).toContain('agent: Fine.');
  }
});

test('Codex is told to stop after an error, and before it is told anything else', async () => {
  const { projectDir, remove } = await makeWorkspace();
  const { command, args, env, control } = await acpAgent(contractScript);
  const script = createCodexProvider({ command, args, env });
  onTestFinished(async () => {
    await script.close();
    await control.close();
    await remove();
  });
  const listener = new Listener(script, randomUUID());
  await script.createSession({ projectDir, sessionId: listener.sessionId });

  await listener.ask(contractPrompts.error);
  await listener.ask(contractPrompts.text);

  // This takes a way of its own.
  await expect
    .poll(() => control.received.map(({ method }) => method).slice(2), patience)
    .toEqual(['session/prompt', 'session/cancel', 'session/prompt']);
});
