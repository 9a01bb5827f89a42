/**
 * Tests the makers' own web search: it is shown as a call, is sent back unchanged, and stays in the conversation when
 * the maker changes.
 */
import type { OutputItem, Response } from '@liminal/protocol';
import { afterEach, expect, test } from 'vitest';
import { loudEcho } from '../../src/own/loop/testing/echo.ts';
import {
  type AnySession,
  type Interface,
  interfaces,
  openSession,
  type ScriptedAnswer,
} from './any-server.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A session with the tool `echo`, whose model gives these answers, and after them a short last answer. */
async function open(
  kind: Interface,
  says: ScriptedAnswer[],
  stored: readonly Response[] = [],
): Promise<AnySession> {
  const session = await openSession(
    kind,
    () => says.shift() ?? { words: 'Yes.' },
    [loudEcho],
    stored,
  );
  ends.push(session.close);
  return session;
}

const found = [
  { title: 'One', url: 'https://one.example/' },
  { title: 'Two', url: 'https://two.example/' },
];
const searched = { words: 'news', found };

const shown = (items: readonly OutputItem[]): string[] =>
  items.flatMap((item) => {
    if (item.type === 'function_call') return `${item.title} (${item.kind})`;
    if (item.type === 'function_call_output') return `${item.success}: ${item.output}`;
    return item.type === 'message' ? item.content : [];
  });

const searching = [
  ['Responses', '"web_search_call"', 'https://one.example/\n\nhttps://two.example/'],
  ['Messages', '"server_tool_use"', 'One\nhttps://one.example/\n\nTwo\nhttps://two.example/'],
] as const;

test.each(searching)(
  'by %s: a search is shown as a call with search words and results, and is sent back unchanged',
  async (kind, native, output) => {
    const { runTurn, bodies, watch } = await open(kind, [{ searched, words: 'So.' }]);
    const turn = await runTurn('What is new?');
    const ended = watch.events.flatMap(({ payload }) =>
      payload.type === 'item_done' ? payload.finalItem.type : [],
    );
    // People see the end of the search before the answer ends.
    expect(ended.slice(-3)).toEqual(['function_call', 'function_call_output', 'message']);
    expect(shown(turn.outputItems)).toEqual([
      'What is new?',
      'Search the web for “news” (fetch)',
      `true: ${output}`,
      'So.',
    ]);
    await runTurn('Sure?');
    expect(JSON.stringify(bodies()[1])).toContain(native);
    // After a restart, and in a fork, the request is the same.
    const again = await open(kind, [], [turn]);
    await again.runTurn('Sure?');
    const [first] = again.bodies();
    const sent = ['input', 'messages'].flatMap((name) => first?.[name] ?? []);
    expect(sent).toEqual(['input', 'messages'].flatMap((name) => bodies()[1]?.[name] ?? []));
  },
);

test.each([
  ['Responses', 'The search failed: too_many_requests'],
  ['Messages', 'The server’s tool failed: too_many_requests.'],
] as const)('by %s: a failed search gives the reason', async (kind, output) => {
  const failed = { words: 'news', found: [], failed: 'too_many_requests' };
  const { runTurn } = await open(kind, [{ searched: failed, words: 'No.' }]);
  expect(shown((await runTurn('What is new?')).outputItems)[2]).toBe(`false: ${output}`);
});

test.each(
  searching.flatMap(([kind, native]) =>
    interfaces.flatMap((other) => (other === kind ? [] : [[kind, other, native] as const])),
  ),
)('results found by %s are sent to a model that is asked by %s', async (kind, other, native) => {
  const first = await open(kind, [{ searched, words: 'So.' }]);
  const turn = await first.runTurn('What is new?');
  const { runTurn, bodies } = await open(other, [], [turn]);
  expect(await runTurn('Sure?')).toMatchObject({ status: 'complete' });
  const sent = JSON.stringify(bodies()[0]);
  expect(sent).toContain('https://two.example/');
  expect(sent).not.toContain(native);
});

const pending = {
  type: 'server_tool_use',
  id: 'srvtoolu_p',
  name: 'web_search',
  input: { query: 'x' },
};
const result = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_p',
  content: [{ type: 'web_search_result', encrypted_content: 'e', ...found[0] }],
};

test('after a pause during a search, the model continues without a message, and its next answer has the search’s result', async () => {
  const { runTurn, bodies } = await open('Messages', [
    { blocks: [pending], isPaused: true },
    { blocks: [result], words: 'So.' },
  ]);
  expect(shown((await runTurn('What is new?')).outputItems)).toEqual([
    'What is new?',
    'Search the web for “x” (fetch)',
    'true: One\nhttps://one.example/',
    'So.',
  ]);
  await runTurn('Sure?');
  expect(bodies().map(({ messages }) => (messages as object[]).slice(1))).toMatchObject([
    [],
    [{ role: 'assistant', content: [pending] }],
    [{ role: 'assistant', content: [pending, result, { text: 'So.' }] }, { role: 'user' }],
  ]);
});

test('a search without a result in a failed turn is not sent back', async () => {
  const { runTurn, bodies } = await open('Messages', [
    { blocks: [pending], isPaused: true },
    { refused: 'No more.', status: 403 },
  ]);
  expect(await runTurn('What is new?')).toMatchObject({ status: 'error' });
  expect(await runTurn('Well?')).toMatchObject({ status: 'complete' });
  expect(JSON.stringify(bodies().at(-1))).not.toContain('srvtoolu_p');
});

test.each(searching)(
  'by %s: a tool call in the same answer as a search is run, and both are sent back',
  async (kind) => {
    const call = { name: 'echo', arguments: '{"text":"a"}' };
    const { runTurn } = await open(kind, [{ searched, calls: [call] }, { words: 'So.' }]);
    const turn = await runTurn('What is new?');
    expect(turn).toMatchObject({ status: 'complete' });
    expect(shown(turn.outputItems).at(-1)).toBe('So.');
  },
);
