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
  type Reply,
  type Script,
  type Workspace,
} from '@liminal/testkit';
import { testAtLength } from '@liminal/testkit/at-length';
import { beforeAll, expect, test } from 'vitest';
import {
  messagesOf,
  shareClaude,
  type ClaudeListener,
  type RunningClaude,
} from './running-claude.ts';

const run = promisify(execFile);
const program = createRequire(import.meta.url).resolve(
  `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
);

/** Four turns, the second with tools. */
const talk = ({ projectDir }: Workspace): Script => [
  reply('Answer 1.'),
  reply([text('Looking.'), toolUse('Read', { file_path: join(projectDir, 'notes.txt') })]),
  reply('Answer 2.'),
  reply('Answer 3.'),
  reply('Answer 4.'),
];

/** The session to fork, after its four turns. */
const share = shareClaude({ files: { 'notes.txt': 'one\n' } });
const turns: string[] = [];
beforeAll(async () => {
  const { listener } = share(talk);
  for (const n of [1, 2, 3, 4]) turns.push((await listener.ask(`Question ${n}.`)).turnId);
});
const afterFour = (...script: Reply[]) => {
  const { listener, ...claude } = share(() => script);
  return { claude, listener };
};

/** The messages of the first two turns in a request to the model. */
const firstTwo = [
  'user text Question 1.',
  'assistant text Answer 1.',
  'user text Question 2.',
  'assistant text Looking.',
  'assistant tool_use ',
  'user tool_result ',
  'assistant text Answer 2.',
];

/** The file of a session in Claude Code's store. */
function stored({ workspace }: RunningClaude, sessionId: string): string {
  const root = join(workspace.home, '.claude', 'projects');
  const path = readdirSync(root, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith(`${sessionId}.jsonl`),
  );
  return readFileSync(join(root, path!), 'utf8');
}

async function fork({ provider, workspace }: RunningClaude, sessionId: string, turnId: string) {
  const made = await provider.fork(sessionId, workspace.projectDir, turnId);
  const open = async (listener: ClaudeListener): Promise<ClaudeListener> => {
    await provider.loadSession(listener.sessionId, {
      projectDir: workspace.projectDir,
      agentSessionId: made.agentSessionId!,
    });
    return listener;
  };
  return { ...made, open };
}

/** The messages of a request's conversation, without the program's additions. */
const conversation = ({ body }: MessagesRequest): string[] =>
  body.messages.flatMap(({ role, content }) => {
    if (role === 'system') return [];
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    return blocks.flatMap(({ type, text: words = '' }) =>
      words.startsWith('<system-reminder>') ? [] : [`${role} ${type} ${words}`],
    );
  });

test('a fork after the second of four turns sends the model these two turns and the new message; the original continues', async () => {
  const { claude, listener } = afterFour(reply('And on.'), reply('Answer 6.'));
  const before = stored(claude, listener.sessionId);

  const { open, copies, left, agentSessionId } = await fork(claude, listener.sessionId, turns[1]!);
  expect(stored(claude, listener.sessionId)).toBe(before);
  const there = await open(claude.listen(randomUUID()));
  expect(messagesOf(await there.ask('Question 5.'))).toEqual([
    'user: Question 5.',
    'agent: And on.',
  ]);

  expect(conversation(claude.api.requests.at(-1)!)).toEqual([...firstTwo, 'user text Question 5.']);
  // Turns of the fork are found by their new ids; other turns are not found.
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

  // Fork the fork while its next turn runs; that turn continues.
  const silence = gate();
  claude.api.play([held(silence, reply('Answer 7.')), reply('Answer 8.')]);
  const { turnId: running } = await there.send('Question 7.');
  await silence.reached;
  const again = await fork(claude, agentSessionId!, copies.get(turns[0]!)!);
  silence.open();
  expect(messagesOf(await there.ended(running))).toContain('agent: Answer 7.');
  await (await again.open(claude.listen(randomUUID()))).ask('Question 8.');
  expect(conversation(claude.api.requests.at(-1)!)).toEqual([
    'user text Question 1.',
    'assistant text Answer 1.',
    'user text Question 8.',
  ]);
});

testAtLength('the model gets the same messages as after a fork by the program itself', async () => {
  const { claude, listener } = afterFour(reply('So.'), reply('And so.'), reply('And so.'));
  const { workspace, api } = claude;
  const { turnId } = await listener.ask('The last question.');
  const { open } = await fork(claude, listener.sessionId, turnId);
  await (await open(claude.listen(randomUUID()))).ask('Question 5.');
  const ours = api.requests.at(-1)!;

  const options = ['--resume', listener.sessionId, '--fork-session', '--print', 'Question 5.'];
  const env = claudeEnvironment(workspace.home, api.url);
  const running = run(program, options, { cwd: workspace.projectDir, env });
  running.child.stdin?.end();
  await running;
  const theirs = api.requests.at(-1)!;

  expect(theirs.sessionId).not.toBe(ours.sessionId);
  expect(conversation(ours)).toContain('user text The last question.');
  expect(conversation(ours)).toEqual(conversation(theirs));
});

test('a fork is rejected if Claude Code has not stored the turn, or does not have the session', async () => {
  const { claude, listener } = afterFour();
  const { provider, workspace } = claude;
  await expect(
    provider.fork(listener.sessionId, workspace.projectDir, randomUUID()),
  ).rejects.toMatchObject({ code: 'TURN_NOT_STORED' });
  await expect(
    provider.fork(randomUUID(), workspace.projectDir, randomUUID()),
  ).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});

testAtLength('a fork is possible after a turn that Claude Code has summarised', async () => {
  const { claude, listener } = afterFour(
    reply('A summary of it all.'),
    reply('Since then.'),
    reply('And on.'),
  );
  const since: string[] = [];
  for (const message of ['/compact', 'Question 8.']) {
    since.push((await listener.ask(message)).turnId);
  }

  const { open, copies } = await fork(claude, listener.sessionId, turns[1]!);
  await (await open(claude.listen(randomUUID()))).ask('Question 9.');

  expect(conversation(claude.api.requests.at(-1)!)).toEqual([...firstTwo, 'user text Question 9.']);
  const all = [...turns, ...since];
  const later = await fork(claude, listener.sessionId, since[1]!);
  expect(all.map((turnId) => later.copies.has(turnId))).toEqual(all.map(() => true));
  expect(all.map((turnId) => copies.has(turnId))).toEqual(all.map((_, n) => n < 2));
});

testAtLength(
  'a fork contains the whole turn if Claude Code summarised during the turn',
  async () => {
    const usage = { input_tokens: 990_000, output_tokens: 10 };
    const { listener, ...claude } = share(({ projectDir }) => {
      const look = toolUse('Read', { file_path: join(projectDir, 'notes.txt') });
      const answers = [reply([text('Looking.'), look], { usage })];
      return ({ prompt }) => {
        const question = /Question \d+/.exec(prompt)?.[0];
        return answers.shift() ?? reply(question ? `Answer to ${question}.` : 'Summed up.');
      };
    });
    const { turnId, outputItems } = await listener.ask('Question 10.');
    await listener.ask('Question 11.');

    const { open } = await fork(claude, listener.sessionId, turnId);
    await (await open(claude.listen(randomUUID()))).ask('Question 12.');

    const items = outputItems.map((item) => ('content' in item ? item.content : item.type));
    expect(items.slice(-2)).toEqual([
      expect.stringMatching(/^The conversation so far was summarised .* \(automatically, /),
      'Summed up.',
    ]);
    expect(conversation(claude.api.requests.at(-1)!).slice(-2)).toEqual([
      'assistant text Summed up.',
      'user text Question 12.',
    ]);
  },
);
