/** A thread that Codex 0.137 stored. Earlier versions of Liminal, and editors, ran that Codex over ACP. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, type ResponsesRequest } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { Listener, messagesOf } from '../acp/running-agent.ts';
import { foldTurns } from '../../src/testing/folding.ts';
import { runCodex } from './running-codex.ts';

const fixture = new URL('../../../testkit/fixtures/codex-0.137/rollout.jsonl', import.meta.url);
const folder = 'sessions/2026/11/28';

/** Starts the current Codex in a home with that thread, whose project is the workspace's. */
async function afterUpgrade() {
  const codex = await runCodex(() => [answer('Fourth.'), answer('Third, again.')]);
  const { home, projectDir } = codex.workspace;
  const text = (await readFile(fixture, 'utf8')).replaceAll('/code/shop', projectDir);
  const [, threadId = ''] = /"id":"([\da-f-]{36})"/.exec(text) ?? [];
  const stored = join(home, '.codex', folder);
  await mkdir(stored, { recursive: true });
  await writeFile(join(stored, `rollout-2026-11-28T07-58-07-${threadId}.jsonl`), text);
  return { ...codex, projectDir, threadId };
}

const before = [
  ['user: Hello?', 'agent: Hello Ada.'],
  ['user: Run it.', 'agent: It said one.'],
  ['user: Third?', 'agent: Third.'],
];
const heard = ({ body }: ResponsesRequest): string => JSON.stringify(body.input);

test('a thread of Codex 0.137 can be listed, read, continued and forked', async () => {
  const { provider, api, projectDir, threadId } = await afterUpgrade();
  expect(await provider.listStoredSessions(projectDir)).toMatchObject([
    { sessionId: threadId, projectDir, title: 'Hello?' },
  ]);
  const stored = await provider.readStoredHistory(threadId, projectDir);
  const turns = [...foldTurns(stored.flatMap(({ events }) => events)).values()];
  expect(turns.map(messagesOf)).toEqual(before);

  const listener = new Listener(provider, randomUUID());
  const { sessionId } = listener;
  await provider.loadSession(sessionId, { projectDir, agentSessionId: threadId });
  expect(messagesOf(await listener.ask('Fourth?'))).toEqual(['user: Fourth?', 'agent: Fourth.']);
  const last = heard(api.requests.at(-1)!);
  for (const words of before.flat()) expect(last).toContain(words.replace(/^\w+: /, ''));

  const fork = await provider.fork(threadId, projectDir, stored[1]!.turnId);
  const there = new Listener(provider, randomUUID());
  const { agentSessionId = '' } = fork;
  await provider.loadSession(there.sessionId, { projectDir, agentSessionId });
  await there.ask('And then?');
  const asked = heard(api.requests.at(-1)!);
  expect(asked).toContain('It said one.');
  expect(asked).not.toContain('Third?');
});
