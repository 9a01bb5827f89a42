/** The work of subagents in stored threads, in forms that the real Codex makes only by chance. */
import { expect, test } from 'vitest';
import type { AppServer } from '../../src/kinds/codex/app-server.ts';
import { readThread } from '../../src/kinds/codex/stored-threads.ts';
import { brokenRules, foldTurn, itemsOf, payloadsOf } from '../../src/testing/folding.ts';

const words = (id: string, text: string) => ({ type: 'agentMessage', id, text });
const calls = (id: string, tool: string, ...receiverThreadIds: string[]) => ({
  type: 'collabAgentToolCall',
  id,
  tool,
  status: 'completed',
  prompt: `Do ${id}.`,
  receiverThreadIds,
});
const turn = (id: string, rootTurnId: string | undefined, ...items: object[]) => ({
  id,
  rootTurnId,
  items,
  status: 'completed',
});

/** Returns the turns of `main` from a Codex that has stored these threads. */
async function shown(threads: Record<string, object[]>) {
  const asked: string[] = [];
  const request = async (_method: string, { threadId }: { threadId: string }) => {
    asked.push(threadId);
    if (threads[threadId] === undefined) throw new Error('There is no such thread.');
    return { data: threads[threadId], nextCursor: null };
  };
  const turns = await readThread({ request } as unknown as AppServer, 'main', '/project');
  return {
    asked,
    told: turns.map(({ turnId, events }) => {
      expect(brokenRules(payloadsOf(events, turnId))).toEqual([]);
      return foldTurn(events, turnId);
    }),
  };
}

const messages = (response: Parameters<typeof itemsOf>[0]) =>
  itemsOf(response, 'message').map((item) => [item.content, item.parentCallId]);

test('the work of a subagent for a later turn is shown in that turn, under a call of its own', async () => {
  const { told } = await shown({
    main: [
      turn('first', 'first', calls('spawn', 'spawnAgent', 'agent'), words('a', 'Sent.')),
      turn('second', 'second', calls('more', 'sendInput', 'agent'), words('b', 'Told.')),
    ],
    agent: [
      turn('one', 'first', words('c', 'I begin.')),
      turn('two', 'second', words('d', 'I go on.')),
    ],
  });

  expect(messages(told[0]!)).toEqual([
    ['I begin.', 'spawn'],
    ['Sent.', undefined],
  ]);
  const goesOn = itemsOf(told[1]!, 'function_call').at(-1);
  expect(goesOn?.title).toBe('Delegated before: Do spawn.');
  expect(messages(told[1]!)).toEqual([
    ['I go on.', goesOn?.callId],
    ['Told.', undefined],
  ]);
});

test('the work of a subagent’s subagent is shown under the call that started this second subagent', async () => {
  const { told } = await shown({
    main: [turn('first', 'first', calls('spawn', 'spawnAgent', 'agent'), words('a', 'Sent.'))],
    agent: [turn('one', 'first', calls('deeper', 'spawnAgent', 'other'), words('b', 'Sent on.'))],
    other: [turn('two', undefined, words('c', 'Done.'))],
  });
  expect(messages(told[0]!)).toEqual([
    ['Sent on.', 'spawn'],
    ['Sent.', undefined],
    ['Done.', 'deeper'],
  ]);
});

test('SAFE: missing threads, and threads that name each other, are read at most once', async () => {
  const { told, asked } = await shown({
    main: [turn('first', 'first', calls('spawn', 'spawnAgent', 'agent', 'gone'))],
    agent: [turn('one', 'elsewhere', calls('back', 'sendInput', 'main', 'agent', 'gone'))],
  });
  expect(asked).toEqual(['main', 'agent', 'gone']);
  expect(
    told.map((response) => itemsOf(response, 'function_call').map((call) => call.callId)),
  ).toEqual([['spawn', 'back']]);
});
