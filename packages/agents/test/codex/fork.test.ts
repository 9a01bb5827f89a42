import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testAtLength } from '@liminal/testkit/at-length';
import { answer, execCommand, gate, held, message, type ResponsesRequest } from '@liminal/testkit';
import { beforeAll, expect, test } from 'vitest';
import { Listener, messagesOf } from '../acp/running-agent.ts';
import { type RunningCodex, sharedCodex } from './running-codex.ts';

const share = sharedCodex();

/** The session that is forked, and its four turns. */
let original: Listener;
const turns: string[] = [];
beforeAll(async () => {
  const codex = await share(() => [
    answer('Answer 1.'),
    answer([message('Looking.'), execCommand('cat notes.txt')]),
    ...[2, 3, 4].map((n) => answer(`Answer ${n}.`)),
  ]);
  original = new Listener(codex.provider, randomUUID());
  const { sessionId } = original;
  const { projectDir } = codex.workspace;
  await codex.provider.createSession({ projectDir, sessionId });
  for (const n of [1, 2, 3, 4]) turns.push((await original.ask(`Question ${n}.`)).turnId);
});

async function afterFour() {
  const codex = await share(() => Array.from({ length: 4 }, () => answer('And on.')));
  return { codex, listener: original, threadId: await original.agentSessionId() };
}

async function fork({ provider, workspace }: RunningCodex, threadId: string, turnId: string) {
  const made = await provider.fork(threadId, workspace.projectDir, turnId);
  const open = async (by = provider): Promise<Listener> => {
    const there = new Listener(by, randomUUID());
    await by.loadSession(there.sessionId, {
      projectDir: workspace.projectDir,
      agentSessionId: made.agentSessionId!,
    });
    return there;
  };
  return { ...made, open };
}

/** The file of a thread in Codex' store. */
function stored({ workspace }: RunningCodex, threadId: string): string {
  const root = join(workspace.home, '.codex', 'sessions');
  const path = readdirSync(root, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith(`${threadId}.jsonl`),
  );
  return readFileSync(join(root, path!), 'utf8');
}

/** Returns the conversation in a request, without Codex' additions. */
const conversation = ({ body }: ResponsesRequest): string[] =>
  (Array.isArray(body.input) ? body.input : []).flatMap(({ type, role, content }) => {
    if (type !== 'message') return [type];
    if (role !== 'user' && role !== 'assistant') return [];
    const texts = Array.isArray(content) ? content.map(({ text = '' }) => text) : [];
    return texts.flatMap((text) => (text.startsWith('<') ? [] : [`${role}: ${text}`]));
  });

const untilTwo = [
  'user: Question 1.',
  'assistant: Answer 1.',
  'user: Question 2.',
  'assistant: Looking.',
  'function_call',
  'function_call_output',
  'assistant: Answer 2.',
];

test('a fork after the second of four turns gives the model two turns and the new message; its turns have lasting ids of their own; the original continues', async () => {
  const { codex, listener, threadId } = await afterFour();
  const { projectDir } = codex.workspace;
  const before = stored(codex, threadId);

  const made = await fork(codex, threadId, turns[1]!);
  expect(stored(codex, threadId)).toBe(before);
  const there = await made.open();
  const fifth = await there.ask('Question 5.');
  expect(messagesOf(fifth)).toEqual(['user: Question 5.', 'agent: And on.']);
  expect(conversation(codex.api.requests.at(-1)!)).toEqual([...untilTwo, 'user: Question 5.']);

  const history = await codex.provider.readStoredHistory(made.agentSessionId!, projectDir);
  expect(history.map((turn) => turn.turnId)).toEqual([
    ...turns.slice(0, 2).map((turn) => made.copies.get(turn)),
    fifth.turnId,
  ]);
  expect(history.map(({ after }) => after)).toEqual([
    undefined,
    ...history.slice(0, 2).map((turn) => turn.turnId),
  ]);
  expect(new Set([...turns, ...made.copies.values()]).size).toBe(6);
  const ofOriginal = await codex.provider.readStoredHistory(threadId, projectDir);
  expect(ofOriginal.map((turn) => turn.turnId)).toEqual(turns);

  await listener.ask('Question 6.');
  const told = conversation(codex.api.requests.at(-1)!);
  expect(told).toContain('user: Question 4.');
  expect(told).not.toContain('user: Question 5.');
});

test('a session can be forked while its next turn runs, and that turn continues', async () => {
  const silence = gate();
  const codex = await share(() => [
    answer('Answer 1.'),
    held(silence, answer('Answer 2.')),
    answer('Answer 3.'),
  ]);
  const listener = await codex.create();
  const { turnId } = await listener.ask('Question 1.');
  const running = await listener.send('Question 2.');
  await silence.reached;

  const made = await fork(codex, await listener.agentSessionId(), turnId);
  silence.open();
  expect(messagesOf(await listener.response(running))).toContain('agent: Answer 2.');
  await (await made.open()).ask('Question 3.');

  expect(conversation(codex.api.requests.at(-1)!)).toEqual([
    'user: Question 1.',
    'assistant: Answer 1.',
    'user: Question 3.',
  ]);
});

test('a fork after a turn that Codex has not stored, or of an unknown session, is rejected', async () => {
  const { codex, threadId } = await afterFour();
  const { provider, workspace } = codex;
  await expect(provider.fork(threadId, workspace.projectDir, randomUUID())).rejects.toMatchObject({
    code: 'TURN_NOT_STORED',
  });
  await expect(
    provider.fork(randomUUID(), workspace.projectDir, randomUUID()),
  ).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});

testAtLength('a fork of a fork has the messages of both, also in another process', async () => {
  const { codex, threadId } = await afterFour();
  const first = await fork(codex, threadId, turns[2]!);
  await (await first.open()).ask('Question 5.');
  await codex.provider.close();

  const provider = codex.provide();
  const again = await fork(
    { ...codex, provider },
    first.agentSessionId!,
    first.copies.get(turns[1]!)!,
  );
  await (await again.open()).ask('Question 6.');

  expect(conversation(codex.api.requests.at(-1)!)).toEqual([...untilTwo, 'user: Question 6.']);
});
