/** The real Codex implements a plan in a fresh thread, and the session switches threads. */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, execCommand, type ModelScript } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { Listener, messagesOf } from '../acp/running-agent.ts';
import { type RunningCodex, runCodex } from './running-codex.ts';
import { runningTurn } from './silent-codex.ts';

const plan = 'Here.\n<proposed_plan>\n# A shed\n- Saw\n</proposed_plan>';

const script: ModelScript = ({ prompt }) =>
  answer(prompt.startsWith('Plan') ? plan : `Answer to ${prompt}`);

const cleared = /^system: The context was cleared: the model knows the plan, and nothing else/;

/** Makes a session with two turns; the second has proposed a plan, and `question` is the question after it. */
async function planned(codex: RunningCodex) {
  const listener = await codex.create({ collaboration_mode: 'plan', mode: 'read-only' });
  const first = await listener.ask('Remember the pears.');
  const second = await listener.ask('Plan a shed.');
  const before = await listener.agentSessionId();
  const turnId = await listener.until(
    () =>
      listener.events.find((one) => ![first, second].some(({ turnId }) => turnId === one.turnId))
        ?.turnId,
  );
  return { listener, first, second, turnId, before, question: await listener.asked(turnId) };
}

/** Makes a session as `planned` does, and implements the plan in a fresh thread. */
async function afresh(codex: RunningCodex, note?: string) {
  const earlier = await planned(codex);
  await earlier.question.answer('clear', note === undefined ? {} : { note });
  const third = await earlier.listener.response(earlier.turnId);
  return { ...earlier, third, after: await earlier.listener.agentSessionId() };
}

/** Returns the messages of people and the model in the newest request. */
function heard({ api }: RunningCodex): string[] {
  const { input = [] } = api.requests.at(-1)?.body ?? {};
  const texts = (input as { role?: string; content?: { text?: string }[] }[]).flatMap((item) =>
    item.role === 'user' || item.role === 'assistant' ? (item.content ?? []) : [],
  );
  return texts.flatMap(({ text = '' }) => (text.startsWith('<environment_context>') ? [] : text));
}

test('the turn reports that the context was cleared, and its message names the plan’s file, then has the note', async () => {
  const codex = await runCodex(() => script);
  const { third, before, after, listener } = await afresh(codex, 'Use oak.');
  expect(after).not.toBe(before);
  expect(third.status).toBe('complete');
  const [notice, message, reply] = messagesOf(third);
  expect(notice).toMatch(cleared);
  const [, path = ''] =
    /Read the approved plan at (.+) and implement it\./.exec(message ?? '') ?? [];
  expect(message).toBe(`user: Read the approved plan at ${path} and implement it.\n\nUse oak.`);
  expect(reply).toMatch(/^agent: Answer to Read the approved plan/);
  expect(await readFile(path, 'utf8')).toBe('# A shed\n- Saw\n');
  // Plan mode has ended; the fresh thread has the other chosen settings.
  expect(listener.option('collaboration_mode')).toBe('default');
  expect(listener.option('mode')).toBe('read-only');
  const asked = JSON.stringify(codex.api.requests.at(-1)?.body.input);
  expect(asked).toContain('`sandbox_mode` is `read-only`');
  expect(asked).not.toContain('pears');
});

test('a later process resumes the fresh thread, with only that thread’s messages', async () => {
  const codex = await runCodex(() => script);
  const { listener, third, after } = await afresh(codex);
  const [, message = ''] = messagesOf(third);
  const { provider, workspace } = codex;
  const { sessionId } = listener;
  const { projectDir } = workspace;
  await provider.killSession(sessionId);
  const later = codex.provide();
  const there = new Listener(later, sessionId);
  await later.loadSession(sessionId, { projectDir, agentSessionId: after });
  await there.ask('Go on.');
  const words = message.replace('user: ', '');
  expect(heard(codex)).toEqual([words, `Answer to ${words}`, 'Go on.']);
  const stored = await later.readStoredHistory(after, projectDir);
  expect(stored.map(({ turnId }) => turnId)).toEqual([third.turnId, expect.any(String)]);
});

test('turns before the fresh thread can be neither forked nor rewound, with the reason; later turns can', async () => {
  const codex = await runCodex(() => script);
  const { provider, workspace } = codex;
  const { listener, first, second, third, after } = await afresh(codex);
  const fourth = await listener.ask('Paint it.');
  const { projectDir } = workspace;
  const { sessionId } = listener;
  for (const { turnId } of [first, second]) {
    await expect(provider.fork(after, projectDir, turnId)).rejects.toMatchObject({
      code: 'TURN_NOT_STORED',
      message: expect.stringContaining('the context was cleared'),
    });
  }
  const all = [first, second, third, fourth].map(({ turnId }) => turnId);
  const kept = { runs: async () => [] };
  for (const turnIds of [all, all.slice(1), all.slice(2)]) {
    await expect(
      provider.rewindConversation(sessionId, { turnIds, remaining: kept }),
    ).rejects.toMatchObject({
      code: 'CANNOT_REWIND',
      message: expect.stringContaining('the context was cleared'),
    });
  }
  await provider.rewindConversation(sessionId, { turnIds: all.slice(3), remaining: kept });
  await listener.ask('Varnish it.');
  expect(heard(codex).slice(1)).toEqual([expect.stringMatching(/^Answer to Read/), 'Varnish it.']);
  const fork = await provider.fork(after, projectDir, third.turnId);
  const copy = new Listener(provider, randomUUID());
  const { agentSessionId = '' } = fork;
  await provider.loadSession(copy.sessionId, { projectDir, agentSessionId });
  await copy.ask('Another shed?');
  expect(heard(codex).at(-1)).toBe('Another shed?');
});

test('background work of the old thread ends with that thread', async () => {
  const command = 'echo $$ > pid; until [ -e go ]; do sleep 0.1; done';
  const codex = await runCodex(() => ({ prompt, body: { input } }) => {
    const isNew = !JSON.stringify(input).includes('"function_call_output"');
    if (prompt === 'Wait.' && isNew) return answer(execCommand(command, { yieldMs: 250 }));
    return answer(prompt.startsWith('Plan') ? plan : 'Well.');
  });
  const listener = await codex.create();
  await listener.ask('Wait.');
  const tasks = () => listener.updates.findLast((one) => one.tasks)?.tasks ?? [];
  await listener.until(() => (tasks().length === 1 ? true : undefined));
  await codex.provider.setConfigOption(listener.sessionId, 'collaboration_mode', 'plan');
  const turn = await listener.ask('Plan a shed.');
  const turnId = await listener.until(
    () =>
      listener.events.slice(
        listener.events.findLastIndex((one) => one.turnId === turn.turnId) + 1,
      )[0]?.turnId,
  );
  await (await listener.asked(turnId)).answer('clear');
  expect((await listener.response(turnId)).status).toBe('complete');
  expect(tasks()).toEqual([]);
  const pid = Number(await readFile(join(codex.workspace.projectDir, 'pid'), 'utf8'));
  await expect.poll(() => isRunning(pid), { timeout: 60_000 }).toBe(false);
});

test('if the plan’s file cannot be written, the fresh thread’s context has the plan', async () => {
  const codex = await runCodex(() => script);
  const { listener, question, turnId, before } = await planned(codex);
  await writeFile(join(codex.workspace.home, '.codex', 'attachments'), 'Not a folder.');
  await question.answer('clear');
  expect(messagesOf(await listener.response(turnId))).toEqual([
    expect.stringMatching(cleared),
    'user: Implement the plan.',
    'agent: Answer to Implement the plan.',
  ]);
  expect(JSON.stringify(codex.api.requests.at(-1)?.body.input)).toContain('# A shed');
  expect(await listener.agentSessionId()).not.toBe(before);
});

test('if Codex refuses the plan, the session keeps its thread and Plan mode, and the turn has the reason', async () => {
  const { session, say, turn, drafts, requests, refuse } = await runningTurn();
  const threadSettings = { model: 'gpt', sandboxPolicy: { type: 'readOnly' } };
  const collaborationMode = { mode: 'plan' };
  say('thread/settings/updated', 'own', {
    threadSettings: { ...threadSettings, collaborationMode },
  });
  say('item/completed', 'own', { item: { type: 'plan', id: 'plan', text: '# A shed' } });
  refuse('thread/prepareApprovedPlan');
  turn('turn/completed', 'own', { id: 'first', status: 'completed' });
  const payloads = () => drafts.map(({ payload }) => payload);
  const asked = payloads().find((one) => one.type === 'item_start' && one.itemType === 'approval');
  const approvalId = asked?.type === 'item_start' ? (asked.approvalId ?? '') : '';

  await session.answerApproval(approvalId, { optionId: 'clear' });

  const error = {
    code: 'AGENT_ERROR',
    message: expect.stringMatching(
      /^Codex did not clear the context\. No thread\/prepareApprovedPlan now/,
    ),
  };
  await expect
    .poll(payloads)
    .toContainEqual(expect.objectContaining({ type: 'response_error', error }));
  expect(session.agentSessionId).toBe('own');
  expect(requests()).toContainEqual(['thread/unsubscribe', 'fresh', undefined]);
  expect(requests()).not.toContainEqual(['thread/unsubscribe', 'own', undefined]);
  expect(requests().map(([method]) => method)).not.toContain('thread/settings/update');
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
