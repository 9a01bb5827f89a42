/** Tasks that the real Codex delegates to subagents, and that outlive their turns. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answer,
  execCommand,
  failed,
  functionCall,
  gate,
  message,
  type ModelReply,
  type ResponsesRequest,
} from '@liminal/testkit';
import type { Response } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { itemsOf } from '../../src/testing/folding.ts';
import { type Listener, messagesOf } from '../acp/running-agent.ts';
import { commandsIn } from './processes.ts';
import { sharedCodex } from './running-codex.ts';

const patience = { timeout: 30_000, interval: 50 };
const asking = { approvalPolicy: 'on-request', sandbox: 'read-only' } as const;

const share = sharedCodex({ codex: asking });

/** A model that delegates a task and does not wait for its end. @param does - The answers to the subagent. */
const delegating =
  (does: ModelReply[]) =>
  ({ prompt, body: { input } }: ResponsesRequest): ModelReply => {
    const items = Array.isArray(input) ? input : [];
    const told = items.filter((item) => item.type === 'function_call_output').length;
    if (prompt === 'You count.') return does[told] ?? answer('It has no more to say.');
    if (prompt !== 'Have it counted.') return answer('Another matter.');
    if (told > 0) return answer('It is being counted.');
    const spawn = { namespace: 'multi_agent_v1', callId: 'call_spawn' };
    return answer(functionCall('spawn_agent', { message: 'You count.' }, spawn));
  };

/** Returns the messages of a turn, without those of its tasks. */
const ownWords = (response: Response): string[] =>
  itemsOf(response, 'message').flatMap((item) =>
    item.parentCallId === undefined ? [item.content] : [],
  );

const tasks = ({ updates }: Listener) => updates.findLast((one) => one.tasks !== undefined)?.tasks;

/** Returns the next turn that the agent begins by itself. */
const ownTurn = (listener: Listener, past: string[] = []) =>
  listener.until(
    () =>
      listener.events.find(
        ({ turnId, payload }) =>
          payload.type === 'response_start' &&
          payload.trigger === 'agent' &&
          !past.includes(turnId),
      )?.turnId,
  );

test('the items of a task after its turn are shown in a turn of its own when the task ends', async () => {
  const middle = gate();
  const { create, workspace } = await share(() =>
    delegating([
      answer([message(['I count', middle, '.']), execCommand('echo two', { callId: 'call_echo' })]),
      answer('I counted 2.'),
    ]),
  );
  const listener = await create();
  const first = await listener.ask('Have it counted.');
  expect(ownWords(first)).toEqual(['Have it counted.', 'It is being counted.']);
  await middle.reached;
  const [task] = await listener.until(() => tasks(listener)?.length === 1 && tasks(listener));
  expect(task).toMatchObject({ title: 'You count.', kind: 'agent', callId: 'call_spawn' });

  middle.open();

  const later = await listener.response(await ownTurn(listener));
  const [call, command] = itemsOf(later, 'function_call');
  expect(call).toMatchObject({ title: 'Delegated before: You count.' });
  expect(command).toMatchObject({ callId: 'call_echo', parentCallId: call?.callId });
  expect(itemsOf(later, 'message')).toMatchObject([
    { content: 'I count.', origin: 'agent', parentCallId: call?.callId },
    { content: 'I counted 2.', origin: 'agent', parentCallId: call?.callId },
  ]);
  expect(itemsOf(later, 'function_call_output').at(-1)).toMatchObject({ output: 'two\n' });
  expect(later.status).toBe('complete');
  await listener.until(() => tasks(listener)?.length === 0);
  expect(commandsIn(workspace.home)).toEqual([]);
});

test('a message is answered while a task runs, and the task’s items are kept apart', async () => {
  const [middle, held] = [gate(), gate()];
  const { create } = await share(() => {
    const delegate = delegating([answer(message(['I count', middle, '. Now I know.']))]);
    return (request) =>
      request.prompt === 'And you?' ? answer(message(['I ', held, 'wait.'])) : delegate(request);
  });
  const listener = await create();
  await listener.ask('Have it counted.');
  await middle.reached;
  expect(ownWords(await listener.ask('Another?'))).toEqual(['Another?', 'Another matter.']);
  const turnId = await listener.send('And you?');
  await held.reached;
  middle.open();
  await listener.until(() =>
    listener.of(turnId).some(({ payload }) => JSON.stringify(payload).includes('Now I know.')),
  );
  held.open();

  const response = await listener.response(turnId);
  // In this turn, Codex may still report the end of the task to its model.
  expect(ownWords(response).slice(0, 2)).toEqual(['And you?', 'I wait.']);
  const [call] = itemsOf(response, 'function_call');
  expect(call).toMatchObject({ title: 'Delegated before: You count.' });
  expect(itemsOf(response, 'message')).toContainEqual(
    expect.objectContaining({ content: 'I count. Now I know.', parentCallId: call?.callId }),
  );
});

test('INV-3: a task can ask for permission after its turn, and continues once it has the permission', async () => {
  const middle = gate();
  const { create, workspace } = await share(() =>
    delegating([
      answer([
        message(['I make it.', middle]),
        execCommand('touch made.txt', { escalate: 'It must be made.' }),
      ]),
      answer('Made.'),
    ]),
  );
  const listener = await create();
  await listener.ask('Have it counted.');
  await middle.reached;

  middle.open();

  const turnId = await ownTurn(listener);
  const { title, answer: reply } = await listener.asked(turnId);
  expect(title).toContain('touch made.txt');
  await reply('accept');
  const asked = await listener.response(turnId);
  expect(asked.status).toBe('complete');
  expect(messagesOf(asked)).toContain('agent: I make it.');
  const later = await listener.response(await ownTurn(listener, [turnId]));
  expect(messagesOf(later)).toEqual(['agent: Made.']);
  await access(join(workspace.projectDir, 'made.txt'));
});

test('INV-3: if a task’s turn ends while the task asks for permission, the question is repeated', async () => {
  const middle = gate();
  const { create, workspace } = await share(() => {
    const delegate = delegating([
      answer(execCommand('touch made-too.txt', { escalate: 'It must be made.' })),
      answer('Made.'),
    ]);
    return (request) => {
      const reply = delegate(request);
      const isLast = JSON.stringify(reply).includes('It is being counted.');
      return isLast ? answer(message(['It is being', middle, ' counted.'])) : reply;
    };
  });
  const listener = await create();
  const turnId = await listener.send('Have it counted.');
  await middle.reached;
  await listener.asked(turnId);

  middle.open();

  const first = await listener.response(turnId);
  expect(itemsOf(first, 'approval')).toMatchObject([{ outcome: { outcome: 'cancelled' } }]);
  const later = await ownTurn(listener);
  await (await listener.asked(later)).answer('accept');
  await listener.response(later);
  await expect
    .poll(
      () =>
        access(join(workspace.projectDir, 'made-too.txt')).then(
          () => true,
          () => false,
        ),
      patience,
    )
    .toBe(true);
});

test('a task that outlives its turn can be stopped', async () => {
  const { create, provider, workspace } = await share(() =>
    delegating([answer(execCommand('sleep 300', { yieldMs: 20_000 }))]),
  );
  const listener = await create();
  await listener.ask('Have it counted.');
  const [task] = await listener.until(
    () => tasks(listener)?.some(({ kind }) => kind === 'agent') && tasks(listener),
  );
  // The process of the sandbox may be listed as well.
  await expect.poll(() => commandsIn(workspace.home), patience).not.toEqual([]);

  await provider.stopTask?.(listener.sessionId, task!.taskId);

  await listener.until(() => tasks(listener)?.length === 0);
  await expect.poll(() => commandsIn(workspace.home), patience).toEqual([]);
});

test('the error of a task that fails after its turn is shown', async () => {
  const middle = gate();
  const { create } = await share(() =>
    delegating([
      answer([message(['I count', middle, '.']), execCommand('echo two')]),
      failed('insufficient_quota', 'You exceeded your current quota.'),
    ]),
  );
  const listener = await create();
  await listener.ask('Have it counted.');
  await middle.reached;

  middle.open();

  const later = await listener.response(await ownTurn(listener));
  expect(messagesOf(later).at(-1)).toMatch(/^system: .*[Qq]uota/);
});
