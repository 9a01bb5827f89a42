import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  claudeEnvironment,
  gate,
  held,
  reply,
  text,
  toolUse,
  type MessagesRequest,
  type Script,
  type Workspace,
} from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude, said, type Listener, type RunningClaude } from './running-claude.ts';

const run = promisify(execFile);
const program = createRequire(import.meta.url).resolve(
  `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
);

/** Four turns, the second with tools, and what comes after. */
const talk = ({ projectDir }: Workspace): Script => [
  reply('Answer 1.'),
  reply([text('Looking.'), toolUse('Read', { file_path: join(projectDir, 'notes.txt') })]),
  reply('Answer 2.'),
  reply('Answer 3.'),
  reply('Answer 4.'),
  ...Array.from({ length: 4 }, () => reply('And on.')),
];
const files = { 'notes.txt': 'one\n' };

async function afterFour() {
  const claude = await runClaude(talk, { files });
  const listener = await claude.create();
  const turns: string[] = [];
  for (const n of [1, 2, 3, 4]) turns.push((await listener.ask(`Question ${n}.`)).turnId);
  return { claude, listener, turns };
}

/** The file of a session in Claude Code's store. */
function stored({ workspace }: RunningClaude, sessionId: string): string {
  const root = join(workspace.home, '.claude', 'projects');
  const path = readdirSync(root, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith(`${sessionId}.jsonl`),
  );
  return readFileSync(join(root, path!), 'utf8');
}

async function fork({ provider, workspace }: RunningClaude, sessionId: string, turnId: string) {
  const made = await provider.fork!(sessionId, workspace.projectDir, turnId);
  const open = async (listener: Listener): Promise<Listener> => {
    await provider.loadSession(listener.sessionId, {
      projectDir: workspace.projectDir,
      agentSessionId: made.agentSessionId!,
    });
    return listener;
  };
  return { ...made, open };
}

/** What was said in a request's conversation, without what the program adds to it. */
const conversation = ({ body }: MessagesRequest): string[] =>
  body.messages.flatMap(({ role, content }) => {
    if (role === 'system') return [];
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    return blocks.flatMap(({ type, text: words = '' }) =>
      words.startsWith('<system-reminder>') ? [] : [`${role} ${type} ${words}`],
    );
  });

test('a fork after the second of four turns gives the model these two and the new message; the original goes on', async () => {
  const { claude, listener, turns } = await afterFour();
  const before = stored(claude, listener.sessionId);

  const { open, copies, left, agentSessionId } = await fork(claude, listener.sessionId, turns[1]!);
  expect(stored(claude, listener.sessionId)).toBe(before);
  const there = await open(claude.listen(randomUUID()));
  expect(said(await there.ask('Question 5.'))).toEqual(['user: Question 5.', 'agent: And on.']);

  expect(conversation(claude.api.requests.at(-1)!)).toEqual([
    'user text Question 1.',
    'assistant text Answer 1.',
    'user text Question 2.',
    'assistant text Looking.',
    'assistant tool_use ',
    'user tool_result ',
    'assistant text Answer 2.',
    'user text Question 5.',
  ]);
  // Each turn is known again by its new id, and those that are not in it as such.
  const history = await claude.provider.readStoredHistory(
    agentSessionId!,
    claude.workspace.projectDir,
  );
  expect(history.slice(0, 2).map(({ turnId }) => turnId)).toEqual(
    turns.slice(0, 2).map((turnId) => copies.get(turnId)),
  );
  expect(history).toHaveLength(3);
  expect(new Set(turns.slice(2)).isSubsetOf(left)).toBe(true);
  await listener.ask('Question 6.');
  expect(conversation(claude.api.requests.at(-1)!)).toContain('user text Question 4.');
  expect(conversation(claude.api.requests.at(-1)!)).not.toContain('user text Question 5.');
});

test('the model is told the same as after a fork that the program makes itself', async () => {
  const { claude, listener, turns } = await afterFour();
  const { workspace, api } = claude;
  await claude.provider.killSession(listener.sessionId);
  const { open } = await fork(claude, listener.sessionId, turns[3]!);
  await (await open(claude.listen(randomUUID()))).ask('Question 5.');
  const ours = api.requests.at(-1)!;

  const options = ['--resume', listener.sessionId, '--fork-session', '--print', 'Question 5.'];
  const env = claudeEnvironment(workspace.home, api.url);
  const running = run(program, options, { cwd: workspace.projectDir, env });
  running.child.stdin?.end();
  await running;
  const theirs = api.requests.at(-1)!;

  expect(theirs.sessionId).not.toBe(ours.sessionId);
  expect(conversation(ours)).toEqual(conversation(theirs));
});

test('a fork of a fork knows what both were told before', async () => {
  const { claude, listener, turns } = await afterFour();
  const first = await fork(claude, listener.sessionId, turns[2]!);
  const there = await first.open(claude.listen(randomUUID()));
  await there.ask('Question 5.');

  const again = await fork(claude, first.agentSessionId!, first.copies.get(turns[0]!)!);
  await (await again.open(claude.listen(randomUUID()))).ask('Question 6.');

  expect(conversation(claude.api.requests.at(-1)!)).toEqual([
    'user text Question 1.',
    'assistant text Answer 1.',
    'user text Question 6.',
  ]);
});

test('a session is forked while its next turn runs, which goes on', async () => {
  const silence = gate();
  const claude = await runClaude(() => [
    reply('Answer 1.'),
    held(silence, reply('Answer 2.')),
    reply('Answer 3.'),
  ]);
  const listener = await claude.create();
  const { turnId } = await listener.ask('Question 1.');
  const { turnId: running } = await listener.send('Question 2.');
  await silence.reached;

  const { open } = await fork(claude, listener.sessionId, turnId);
  silence.open();
  expect(said(await listener.ended(running))).toContain('agent: Answer 2.');
  await (await open(claude.listen(randomUUID()))).ask('Question 3.');

  expect(conversation(claude.api.requests.at(-1)!)).toEqual([
    'user text Question 1.',
    'assistant text Answer 1.',
    'user text Question 3.',
  ]);
});

test('a turn that Claude Code has not stored cannot be forked after, nor a session that it does not have', async () => {
  const { claude, listener } = await afterFour();
  const { provider, workspace } = claude;
  await expect(
    provider.fork!(listener.sessionId, workspace.projectDir, randomUUID()),
  ).rejects.toMatchObject({ code: 'TURN_NOT_STORED' });
  await expect(
    provider.fork!(randomUUID(), workspace.projectDir, randomUUID()),
  ).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});

test('a turn can be forked after whose words Claude Code has summarised since', async () => {
  const claude = await runClaude(() => ({ prompt }) => {
    return reply(prompt.startsWith('Question') ? `Answer to ${prompt}` : 'A summary of it all.');
  });
  const listener = await claude.create();
  const turns: string[] = [];
  for (const message of ['Question 1.', 'Question 2.', '/compact', 'Question 3.']) {
    turns.push((await listener.ask(message)).turnId);
  }

  const { open, copies } = await fork(claude, listener.sessionId, turns[1]!);
  await (await open(claude.listen(randomUUID()))).ask('Question 9.');

  expect(conversation(claude.api.requests.at(-1)!)).toEqual([
    'user text Question 1.',
    'assistant text Answer to Question 1.',
    'user text Question 2.',
    'assistant text Answer to Question 2.',
    'user text Question 9.',
  ]);
  const later = await fork(claude, listener.sessionId, turns[3]!);
  expect(turns.map((turnId) => later.copies.has(turnId))).toEqual([true, true, true, true]);
  expect(turns.map((turnId) => copies.has(turnId))).toEqual([true, true, false, false]);
});

test('a turn is forked after as a whole if Claude Code has summarised in the midst of it', async () => {
  const usage = { input_tokens: 990_000, output_tokens: 10 };
  const claude = await runClaude(
    ({ projectDir }) => {
      const look = toolUse('Read', { file_path: join(projectDir, 'notes.txt') });
      const answers = [reply([text('Looking.'), look], { usage })];
      return ({ prompt }) => {
        const question = /Question \d/.exec(prompt)?.[0];
        return answers.shift() ?? reply(question ? `Answer to ${question}.` : 'Summed up.');
      };
    },
    { files },
  );
  const listener = await claude.create();
  const { turnId, outputItems } = await listener.ask('Question 1.');
  await listener.ask('Question 2.');

  const { open } = await fork(claude, listener.sessionId, turnId);
  await (await open(claude.listen(randomUUID()))).ask('Question 9.');

  const items = outputItems.map((item) => ('content' in item ? item.content : item.type));
  expect(items.slice(-2)).toEqual([
    'The conversation so far was summarised to make room.',
    'Summed up.',
  ]);
  expect(conversation(claude.api.requests.at(-1)!).slice(-2)).toEqual([
    'assistant text Summed up.',
    'user text Question 9.',
  ]);
});
