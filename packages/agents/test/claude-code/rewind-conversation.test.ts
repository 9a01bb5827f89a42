/** Rewinds the real Claude Code to before a message, and checks its model's next request. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gate, held, reply, type Script, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { type ClaudeListener, runClaude, type RunningClaude } from './running-claude.ts';

/** A session in which the model counts its answers: A1, A2 and so on. */
async function talk(script?: Script, config?: Record<string, string>) {
  const answers = Array.from({ length: 9 }, (_, at) => reply(`A${at + 1}`));
  const claude = await runClaude(() => script ?? answers);
  const listener = await claude.create(config);
  const turns: string[] = [];
  for (const n of [1, 2, 3]) turns.push((await listener.ask(`Ask ${n}`)).turnId);
  const kept = { runs: async () => [] };
  const rewind = async (...turnIds: string[]): Promise<void> =>
    claude.provider.rewindConversation(listener.sessionId, { turnIds, remaining: kept });
  return { claude, listener, turns, rewind };
}

async function restart({ provider, workspace }: RunningClaude, { sessionId }: ClaudeListener) {
  await provider.killSession(sessionId);
  await provider.loadSession(sessionId, { projectDir: workspace.projectDir });
}

/** People's and the model's messages in the newest request. */
function received({ api }: RunningClaude): string[] {
  const { messages = [] } = api.requests.at(-1)?.body ?? {};
  return messages.flatMap(({ role, content }) => {
    if (role !== 'user' && role !== 'assistant') return [];
    if (typeof content === 'string') return [content];
    return content.flatMap((block) =>
      block.type === 'text' && block.text?.startsWith('<system-reminder>') === false
        ? block.text
        : [],
    );
  });
}

test('after turns 2 and 3 are removed, the model gets turn 1 and the new message, also from a later process', async () => {
  const { claude, listener, turns, rewind } = await talk();
  await rewind(...turns.slice(1));
  await listener.ask('Ask anew');
  expect(received(claude)).toEqual(['Ask 1', 'A1', 'Ask anew']);
  await restart(claude, listener);
  await listener.ask('Go on');
  expect(received(claude)).toEqual(['Ask 1', 'A1', 'Ask anew', 'A4', 'Go on']);
});

test('a rewind lasts if the process ends before the next message, and a further rewind is possible', async () => {
  const { claude, listener, turns, rewind } = await talk();
  const [one = '', two = '', three = ''] = turns;
  await rewind(three);
  await restart(claude, listener);
  await rewind(two);
  await listener.ask('Ask anew');
  expect(received(claude)).toEqual(['Ask 1', 'A1', 'Ask anew']);
  // Rewind to the beginning: nothing is left.
  await rewind(one, listener.events.at(-1)?.turnId ?? '');
  await restart(claude, listener);
  await listener.ask('All anew');
  expect(received(claude)).toEqual(['All anew']);
});

test('turns that Claude Code never had are ignored', async () => {
  const { claude, listener, turns, rewind } = await talk();
  await rewind(randomUUID(), turns[2] ?? '');
  await listener.ask('Ask anew');
  expect(received(claude)).toEqual(['Ask 1', 'A1', 'Ask 2', 'A2', 'Ask anew']);
  await rewind(randomUUID());
  await listener.ask('Go on');
  expect(received(claude)).toHaveLength(7);
});

test('stored history marks removed turns as abandoned, even if all turns were removed', async () => {
  const { claude, listener, turns, rewind } = await talk();
  const left = async () => {
    const { projectDir } = claude.workspace;
    const stored = await claude.provider.readStoredHistory(listener.sessionId, projectDir);
    return stored.filter(({ isLeft }) => isLeft).map(({ turnId }) => turnId);
  };
  await rewind(turns[2] ?? '');
  await claude.provider.killSession(listener.sessionId);
  expect(await left()).toEqual(turns.slice(2));
  await restart(claude, listener);
  await rewind(...turns);
  await claude.provider.killSession(listener.sessionId);
  expect(await left()).toEqual(turns);
});

test('a fork marks previously removed turns as copied', async () => {
  const { claude, listener, turns, rewind } = await talk();
  const { projectDir } = claude.workspace;
  await rewind(turns[2] ?? '');
  const { turnId } = await listener.ask('Ask anew');
  const fork = await claude.provider.fork(listener.sessionId, projectDir, turnId);
  const stored = await claude.provider.readStoredHistory(fork.agentSessionId!, projectDir);
  const marks = stored.map(({ turnId: id, isLeft = false, isCopied = false }) => {
    return { id, isLeft, isCopied };
  });
  const kept = [turns[0], turns[1], turnId].map((id) => fork.copies.get(id ?? ''));
  expect(marks.filter(({ isLeft }) => !isLeft).map(({ id }) => id)).toEqual(kept);
  const gone = { id: fork.copies.get(turns[2] ?? ''), isLeft: true, isCopied: true };
  expect(marks.filter(({ isLeft }) => isLeft)).toEqual([gone]);
});

test('a turn is removed together with its steered messages', async () => {
  const waiting = gate();
  const script = [
    ...['A1', 'A2', 'A3'].map((text) => reply(text)),
    held(waiting, reply(toolUse('Bash', { command: 'true' }))),
    ...['A4', 'A5', 'A6'].map((text) => reply(text)),
  ];
  const { claude, listener, turns, rewind } = await talk(script);
  const { turnId } = await listener.send('Ask 4');
  const messageId = randomUUID();
  await claude.provider.steer(listener.sessionId, 'And more', { turnId, messageId });
  waiting.open();
  await listener.ended(turnId);
  expect(JSON.stringify(claude.api.requests.at(-1)?.body.messages)).toContain('And more');
  await rewind(turns[2] ?? '', turnId);
  await listener.ask('Ask anew');
  expect(received(claude)).toEqual(['Ask 1', 'A1', 'Ask 2', 'A2', 'Ask anew']);
});

test('files can still be restored to before a removed turn', async () => {
  const { claude, listener, turns, rewind } = await talk(undefined, { mode: 'acceptEdits' });
  const path = join(claude.workspace.projectDir, 'a.txt');
  claude.api.play([reply(toolUse('Write', { file_path: path, content: 'new' })), reply('Done.')]);
  const { turnId } = await listener.ask('Write');
  expect(readFileSync(path, 'utf8')).toBe('new');
  await rewind(turns[2] ?? '', turnId);
  await claude.provider.rewindFiles(listener.sessionId, turns[2] ?? '', false);
  expect(existsSync(path)).toBe(false);
});

test('a rewind into summarised turns works until the process ends, and is then rejected with the reason', async () => {
  const { claude, listener, turns, rewind } = await talk();
  const summary = async (): Promise<string> => {
    claude.api.play(Array.from({ length: 5 }, () => reply('A summary.')));
    return (await listener.ask('/compact')).turnId;
  };
  await rewind(...turns.slice(1), await summary());
  await listener.ask('Ask anew');
  expect(received(claude)).toEqual(['Ask 1', 'A1', 'Ask anew']);

  await summary();
  await restart(claude, listener);
  const { turnId } = await listener.ask('Later');
  await expect(rewind(...turns.slice(0, 1), turnId)).rejects.toMatchObject({
    code: 'CANNOT_REWIND',
    message: expect.stringContaining('summarised or cleared'),
  });
  await rewind(turnId);
  await listener.ask('Ask again');
  expect(received(claude).join()).not.toContain('Later');
});
