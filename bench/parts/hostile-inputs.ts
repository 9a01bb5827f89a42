/** Hostile output of an agent, each up to 32 MB: by name, the lines that the agent writes. */

const mib = 1024 * 1024;
const maxBytes = 30 * mib;

const says = (update: object): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'session/update',
    params: { sessionId: '{{sessionId}}', update },
  });
const saysText = (text: string): string =>
  says({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const call = (toolCallId: string, fields: object = {}): string =>
  says({ sessionUpdate: 'tool_call', toolCallId, title: 'Run', kind: 'execute', ...fields });
const update = (toolCallId: string, fields: object): string =>
  says({ sessionUpdate: 'tool_call_update', toolCallId, ...fields });
const done = (fields: object): string => update('c', { status: 'completed', ...fields });
const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
/** Replaces `"{{here}}"` in a line with JSON that `JSON.stringify` cannot make. */
const withJson = (line: string, json: string): string => line.replace('"{{here}}"', json);
const leaves = (bytes: number): number[] => times(Math.floor(bytes / 8), (n) => 1_000_000 + n);
/** Hostile inputs for a tool of Claude Code: by name, the input as JSON. */
export const hostileToolInputs: Record<string, () => string> = {
  'an input of keys': () => JSON.stringify(keys(1_000_000)),
  'an input of 100,000 keys': () => JSON.stringify(keys(100_000)),
  'an input of one text': () => JSON.stringify({ text: 'word '.repeat(maxBytes / 5) }),
};

const keys = (count: number): object => Object.fromEntries(times(count, (n) => [`key${n}`, n]));

export const hostileInputs: Record<string, () => string[]> = {
  'text in pieces of 1 MiB': () => times(30, () => saysText('word '.repeat(mib / 5))),
  'one piece of text': () => [saysText('word '.repeat(maxBytes / 5))],
  'quotes in pieces of 1 MiB': () => times(15, () => saysText('"'.repeat(mib))),
  'one piece of quotes': () => [saysText('"'.repeat(maxBytes / 2))],
  'a million lines in one piece': () => [saysText('a\n'.repeat(1_000_000))],
  'an output in one line': () => [call('c'), done({ rawOutput: { output: 'x'.repeat(maxBytes) } })],
  'outputs of 1 MiB': () =>
    times(30, (n) => [
      call(`c${n}`),
      update(`c${n}`, { status: 'completed', rawOutput: { output: 'word '.repeat(mib / 5) } }),
    ]).flat(),
  'an output of leaves': () => [call('c'), done({ rawOutput: leaves(maxBytes) })],
  'an output of keys': () => [call('c'), done({ rawOutput: keys(1_000_000) })],
  'an input of leaves': () => [call('c', { rawInput: { list: leaves(maxBytes) } }), done({})],
  'an input of keys': () => [call('c', { rawInput: keys(1_000_000) }), done({})],
  'an input nested 100,000 deep': () => [
    withJson(call('c', { rawInput: { deep: '{{here}}' } }), nested(100_000)),
    done({}),
  ],
  'an unknown update nested 4,400 deep': () => [
    withJson(says({ sessionUpdate: 'odd', deep: '{{here}}' }), nested(4_400)),
    call('c'),
    done({}),
  ],
  '2,000 calls of one id': () => times(2_000, () => [call('c'), done({})]).flat(),
  '40,000 calls that never end': () => times(40_000, (n) => call(`c${n}`)),
  '100,000 updates of one call': () => [
    call('c'),
    ...times(100_000, (n) => update('c', { title: `Step ${n}` })),
  ],
  'a change of 200,000 lines': () => [
    call('c', {
      kind: 'edit',
      content: [
        {
          type: 'diff',
          path: '/a.txt',
          oldText: 'old line\n'.repeat(200_000),
          newText: 'new line\n'.repeat(200_000),
        },
      ],
    }),
    done({}),
  ],
  'a plan of 100,000 entries': () => [
    says({
      sessionUpdate: 'plan',
      entries: times(100_000, (n) => ({ content: `${n}`, priority: 'low', status: 'pending' })),
    }),
  ],
  '100,000 commands': () => [
    says({
      sessionUpdate: 'available_commands_update',
      availableCommands: times(100_000, (n) => ({ name: `c${n}`, description: 'd'.repeat(200) })),
    }),
  ],
  'a line that is no JSON': () => ['x'.repeat(maxBytes)],
};
