/** The real Codex rewinds to before a message; tests check the model's next request. */
import { randomUUID } from 'node:crypto';
import { answer, type ModelScript } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { Listener } from '../acp/running-agent.ts';
import { type RunningCodex, runCodex } from './running-codex.ts';

/** Makes a session with three turns. The model numbers its answers: A1, A2 and so on. */
async function talk(script?: ModelScript) {
  const answers = Array.from({ length: 9 }, (_, at) => answer(`A${at + 1}`));
  const codex = await runCodex(() => script ?? answers);
  const listener = await codex.create();
  const turns: string[] = [];
  for (const n of [1, 2, 3]) turns.push((await listener.ask(`Ask ${n}`)).turnId);
  const kept = { runs: async () => [] };
  const rewind = async (...turnIds: string[]): Promise<void> =>
    codex.provider.rewindConversation(listener.sessionId, { turnIds, remaining: kept });
  return { codex, listener, turns, rewind };
}

async function restart({ provider, workspace }: RunningCodex, listener: Listener) {
  const agentSessionId = await listener.agentSessionId();
  const { sessionId } = listener;
  await provider.killSession(sessionId);
  await provider.loadSession(sessionId, { projectDir: workspace.projectDir, agentSessionId });
}

/** Returns the messages of people and the model in the newest request. */
function heard({ api }: RunningCodex): string[] {
  const { input = [] } = api.requests.at(-1)?.body ?? {};
  const said = (input as { role?: string; content?: { text?: string }[] }[]).flatMap((item) =>
    item.role === 'user' || item.role === 'assistant' ? (item.content ?? []) : [],
  );
  return said.flatMap(({ text = '' }) => (text.startsWith('<environment_context>') ? [] : text));
}

test('after turns 2 and 3 are rewound, the model gets turn 1 and the new message, also from a later process', async () => {
  const { codex, listener, turns, rewind } = await talk();
  await rewind(...turns.slice(1));
  await listener.ask('Ask anew');
  expect(heard(codex)).toEqual(['Ask 1', 'A1', 'Ask anew']);
  await restart(codex, listener);
  await listener.ask('Go on');
  expect(heard(codex)).toEqual(['Ask 1', 'A1', 'Ask anew', 'A4', 'Go on']);
});

test('a rewind survives a process that ends before the next message, and may go back to the beginning', async () => {
  const { codex, listener, turns, rewind } = await talk();
  await rewind(...turns.slice(1));
  await restart(codex, listener);
  await listener.ask('Ask anew');
  expect(heard(codex)).toEqual(['Ask 1', 'A1', 'Ask anew']);
  await rewind(...turns.slice(0, 1), listener.events.at(-1)?.turnId ?? '');
  await restart(codex, listener);
  await listener.ask('All anew');
  expect(heard(codex)).toEqual(['All anew']);
});

test('unknown turns are ignored in a rewind, and Codex’ store has only the remaining turns', async () => {
  const { codex, listener, turns, rewind } = await talk();
  await rewind(randomUUID());
  await rewind(randomUUID(), turns[2] ?? '');
  const { projectDir } = codex.workspace;
  const threadId = await listener.agentSessionId();
  const stored = await codex.provider.readStoredHistory(threadId, projectDir);
  expect(stored.map(({ turnId }) => turnId)).toEqual(turns.slice(0, 2));
  await listener.ask('Ask anew');
  expect(heard(codex)).toEqual(['Ask 1', 'A1', 'Ask 2', 'A2', 'Ask anew']);
});

test('a rewind may go back to before a compaction', async () => {
  const { codex, listener, turns, rewind } = await talk();
  const compacted = await listener.ask('/compact');
  await rewind(...turns.slice(1), compacted.turnId);
  await listener.ask('Ask anew');
  expect(heard(codex)).toEqual(['Ask 1', 'A1', 'Ask anew']);
});

test('a thread with a file per rewind is listed once, with its first message, and additions of other programs are detected', async () => {
  const { codex, listener, turns, rewind } = await talk();
  const { projectDir } = codex.workspace;
  const threadId = await listener.agentSessionId();
  const before = await codex.provider.storedMark(threadId, projectDir);
  await rewind(turns[2] ?? '');
  await rewind(turns[1] ?? '');
  await listener.ask('Ask anew');
  const listed = await codex.provider.scanStoredSessions();
  expect(listed).toMatchObject([{ sessionId: threadId, title: 'Ask 1' }]);
  const own = await codex.provider.storedMark(threadId, projectDir);
  expect(own).not.toBe(before);
  await listener.ask('Go on');
  expect(await codex.provider.storedMark(threadId, projectDir)).toBe(own);
  await codex.provider.killSession(listener.sessionId);

  const other = codex.provide();
  const there = new Listener(other, randomUUID());
  await other.loadSession(there.sessionId, { projectDir, agentSessionId: threadId });
  await there.ask('From elsewhere');
  expect(await codex.provider.storedMark(threadId, projectDir)).not.toBe(own);
});
