import { cpuMsOf } from '@liminal/testkit/cpu-time';
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../loop/model-client.ts';
import { buildRequest } from './request.ts';

const asks = (content: string, blocks?: ContentBlock[]): OutputItem => ({
  type: 'message',
  id: `user:${content}`,
  origin: 'user',
  content,
  ...(blocks && { blocks }),
});
const says = (content: string, raw?: unknown): OutputItem => ({
  type: 'message',
  id: content,
  origin: 'agent',
  content,
  ...(raw !== undefined && { raw }),
});
const thinks = (content: string, native?: object): OutputItem => ({
  type: 'reasoning',
  id: content,
  content,
  origin: 'agent',
  ...(native && { raw: { anthropic: native } }),
});
const signed = (content: string) =>
  thinks(content, { type: 'thinking', signature: `s:${content}` });
const calls = (callId: string, input = '{}', more: object = {}): OutputItem => ({
  type: 'function_call',
  id: callId,
  callId,
  name: 'bash',
  arguments: input,
  origin: 'agent',
  ...more,
});
const gives = (callId: string, output: string, more: object = {}): OutputItem => ({
  type: 'function_call_output',
  id: `${callId}:output`,
  callId,
  output,
  success: true,
  origin: 'tool_harness',
  ...more,
});

const requestOf = (more: Partial<ModelRequest>): ModelRequest => ({
  model: 'claude-opus-5-5',
  instructions: '',
  conversation: [],
  tools: [],
  ...more,
});

/** The messages of a conversation, without cache marks. */
function messagesOf(conversation: OutputItem[], more: Partial<ModelRequest> = {}): unknown {
  const { messages } = buildRequest(requestOf({ conversation, ...more }));
  return JSON.parse(
    JSON.stringify(messages, (name, value: unknown) =>
      name === 'cache_control' ? undefined : value,
    ),
  );
}

const text = (value: string) => ({ type: 'text', text: value });
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const use = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'bash', input });
const result = (id: string, content: unknown, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});
const thought = (thinking: string) => ({ type: 'thinking', thinking, signature: `s:${thinking}` });

test('roles alternate: successive items of the user or the model are one message', () => {
  expect(messagesOf([asks('a'), asks('b'), says('c'), says('d'), asks('e')])).toEqual([
    user(text('a'), text('b')),
    assistant(text('c'), text('d')),
    user(text('e')),
  ]);
});

test('the message after a message with calls begins with all results of these calls', () => {
  expect(
    messagesOf([
      asks('go'),
      says('Both.'),
      calls('c1', '{"a":1}'),
      calls('c2'),
      gives('c2', 'two'),
      asks('and hurry'),
      gives('c1', 'one'),
      calls('c3'),
      gives('c3', 'three', { success: false }),
    ]),
  ).toEqual([
    user(text('go')),
    assistant(text('Both.'), use('c1', { a: 1 }), use('c2')),
    user(result('c1', 'one'), result('c2', 'two'), text('and hurry')),
    assistant(use('c3')),
    user(result('c3', 'three', { is_error: true })),
  ]);
});

test('successive calls without text between them are separate messages', () => {
  expect(
    messagesOf([asks('go'), calls('c1'), gives('c1', 'one'), calls('c2'), gives('c2', 'two')]),
  ).toEqual([
    user(text('go')),
    assistant(use('c1')),
    user(result('c1', 'one')),
    assistant(use('c2')),
    user(result('c2', 'two')),
  ]);
});

test('a call without a result gets a result that explains the interruption', () => {
  const interrupted = result('c1', 'The call was interrupted: it has no result.', {
    is_error: true,
  });
  expect(messagesOf([asks('go'), calls('c1'), asks('again')])).toEqual([
    user(text('go')),
    assistant(use('c1')),
    user(interrupted, text('again')),
  ]);
  expect(messagesOf([asks('go'), calls('c1')])).toEqual([
    user(text('go')),
    assistant(use('c1')),
    user(interrupted),
  ]);
});

test('ids and names that the API rejects are changed, in the same way for a call and its result', () => {
  const messages = messagesOf([
    asks('go'),
    calls('functions.bash:0', '{}', { name: 'my tool!' }),
    gives('functions.bash:0', 'one'),
    says('again'),
    calls('functions.bash:0'),
    calls('', '{}', { callId: 'functions_bash_0' }),
    gives('functions_bash_0', 'three'),
    gives('functions.bash:0', 'two'),
  ]);
  expect(messages).toEqual([
    user(text('go')),
    assistant({ ...use('functions_bash_0'), name: 'my_tool_' }),
    user(result('functions_bash_0', 'one')),
    assistant(text('again'), use('functions_bash_0_2'), use('functions_bash_0_3')),
    user(result('functions_bash_0_2', 'two'), result('functions_bash_0_3', 'three')),
  ]);
});

test.each([
  ['', {}],
  ['{"a":[1]}', { a: [1] }],
  ['{"a":', { unreadable_arguments: '{"a":' }],
  ['[1]', { unreadable_arguments: '[1]' }],
])('arguments %j are sent as an object', (input, sent) => {
  expect(messagesOf([asks('go'), calls('c', input), gives('c', 'x')])).toContainEqual(
    assistant(use('c', sent)),
  );
});

test('the thinking of every turn is sent back unchanged at its place, even if it has no text', () => {
  const redacted = { type: 'redacted_thinking', data: 'x' };
  expect(
    messagesOf([
      asks('a'),
      signed('hm'),
      thinks('', { type: 'thinking', signature: 's:' }),
      thinks('', redacted),
      says('b'),
      asks('c'),
      signed('so'),
      calls('c1'),
      gives('c1', 'one'),
    ]),
  ).toEqual([
    user(text('a')),
    assistant(thought('hm'), thought(''), redacted, text('b')),
    user(text('c')),
    assistant(thought('so'), use('c1')),
    user(result('c1', 'one')),
  ]);
});

test('another maker’s thinking, and thinking without a signature, are left out', () => {
  const others: OutputItem = { ...thinks('x'), raw: { openai: { encrypted_content: 'y' } } };
  const unsigned = thinks('z', { type: 'thinking', signature: '' });
  expect(messagesOf([asks('a'), others, thinks('broke'), unsigned, says('b'), asks('c')])).toEqual([
    user(text('a')),
    assistant(text('b')),
    user(text('c')),
  ]);
});

test('an answer that was stopped during thinking is sent back without that thinking at its end', () => {
  expect(messagesOf([asks('a'), signed('hm'), asks('b'), says('c'), signed('hm')])).toEqual([
    user(text('a'), text('b')),
    assistant(text('c')),
  ]);
});

test('additional data of the API is sent back with the item with which the data arrived', () => {
  const citations = [{ type: 'char_location', cited_text: 'x' }];
  const caller = { type: 'direct' };
  const found = { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] };
  const event = { anthropicEvent: { type: 'weather_report' } };
  const kept = [{ anthropic: { type: 'tool_use', caller } }, event];
  expect(
    messagesOf([
      asks('a'),
      calls('srv_1', '{"query":"x"}', { raw: { anthropic: { type: 'server_tool_use' } } }),
      gives('srv_1', 'A page', { raw: { anthropic: found } }),
      says('b', { anthropic: { type: 'text', citations } }),
      thinks('', { type: 'hologram', data: [1] }),
      calls('c1', '{}', { raw: kept }),
      calls('c2', '{}', { raw: [event] }),
      gives('c1', 'x'),
      gives('c2', 'y'),
    ]),
  ).toEqual([
    user(text('a')),
    assistant(
      { ...use('srv_1', { query: 'x' }), type: 'server_tool_use' },
      found,
      { ...text('b'), citations },
      { type: 'hologram', data: [1] },
      { ...use('c1'), caller },
      use('c2'),
    ),
    user(result('c1', 'x'), result('c2', 'y')),
  ]);
});

test('items that are only for people, and calls made by scripts, are left out', () => {
  expect(
    messagesOf([
      asks('a'),
      { ...says('Notice.'), origin: 'system' } as OutputItem,
      calls('c1'),
      calls('inner', '{}', { parentCallId: 'c1' }),
      gives('inner', 'x', { parentCallId: 'c1' }),
      { type: 'plan', id: 'p', entries: [] },
      gives('c1', 'y'),
    ]),
  ).toEqual([user(text('a')), assistant(use('c1')), user(result('c1', 'y'))]);
});

test('blank texts are left out, and white space at the end of the last answer is removed', () => {
  expect(messagesOf([asks(' '), asks('a'), says('\n'), says('Go on: \n')])).toEqual([
    user(text('a')),
    assistant(text('Go on:')),
  ]);
  expect(messagesOf([asks('a'), says('b\n'), asks('c')])).toContainEqual(assistant(text('b\n')));
});

test('if the agent began the conversation, the request begins with an added message of the user', () => {
  expect(messagesOf([says('Done.'), asks('a')])).toEqual([
    user(text('(No message.)')),
    assistant(text('Done.')),
    user(text('a')),
  ]);
});

const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const;
const sentImage = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
};
const left = (what: string) => text(`(Left out, because this model does not accept it: ${what}.)`);

test.each<[string, ContentBlock, object]>([
  ['an image', image, sentImage],
  [
    'an image of another type',
    { ...image, mimeType: 'image/tiff', name: 'a.tiff' },
    left('the image a.tiff (image/tiff)'),
  ],
  [
    'an image that is too large',
    { ...image, data: 'A'.repeat(10 * 1024 * 1024 + 4) },
    left('an image of more than 7.5 MiB'),
  ],
  [
    'an image without its bytes',
    { type: 'image', mimeType: 'image/png', uri: 'blob:x' },
    left('the image (image/png)'),
  ],
  ['a sound', { type: 'audio', mimeType: 'audio/wav', data: 'AA' }, left('the sound (audio/wav)')],
  [
    'a PDF',
    {
      type: 'resource',
      resource: { uri: 'u', name: 'a.pdf', mimeType: 'application/pdf', blob: 'AA' },
    },
    {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'AA' },
    },
  ],
  [
    'a text file',
    { type: 'resource', resource: { uri: 'u', name: 'a.md', text: '# A' } },
    text('<file name="a.md">\n# A\n</file>'),
  ],
  [
    'an image as a file',
    { type: 'resource', resource: { uri: 'u', mimeType: 'image/png', blob: 'AAAA' } },
    sentImage,
  ],
  [
    'another file',
    { type: 'resource', resource: { uri: 'u', name: 'a.zip', mimeType: 'application/zip' } },
    left('the file a.zip (application/zip)'),
  ],
  [
    'a link to a file',
    { type: 'resource_link', uri: 'file:///a/b.ts', name: 'b.ts' },
    text('/a/b.ts'),
  ],
  [
    'another link',
    { type: 'resource_link', uri: 'https://a.example', name: 'A' },
    text('A: https://a.example'),
  ],
])('%s of a person is sent in the API’s form', (_, block, sent) => {
  expect(messagesOf([asks('see', [block])])).toEqual([user(text('see'), sent)]);
  expect(messagesOf([asks('', [block])])).toEqual([user(sent)]);
});

test('images that a tool returned are sent in its result, unless the call failed', () => {
  const blocks = [image];
  const shown = (more: object) => messagesOf([asks('a'), calls('c'), gives('c', 'Here:', more)]);
  expect(shown({ blocks })).toContainEqual(user(result('c', [text('Here:'), sentImage])));
  expect(shown({ blocks, output: '' })).toContainEqual(user(result('c', [sentImage])));
  expect(shown({ blocks, success: false })).toContainEqual(
    user(result('c', [text('Here:'), left('an image')], { is_error: true })),
  );
  expect(shown({ output: ' ' })).toContainEqual(user(result('c', '(No output.)')));
});

const marked = { cache_control: { type: 'ephemeral' } };

test('cache marks are at the system prompt, and at the ends of the last two user messages', () => {
  const tools = [{ name: 'bash', description: 'Runs.', parameters: { type: 'object' } }];
  const conversation = [
    asks('a'),
    says('b'),
    asks('c', [image]),
    calls('c1'),
    gives('c1', 'x'),
    calls('c2'),
    gives('c2', 'y'),
  ];
  const request = requestOf({ instructions: 'Be brief.', conversation, tools });
  const { system, tools: sent, messages } = buildRequest(request);
  expect(system).toEqual([{ ...text('Be brief.'), ...marked }]);
  expect(sent).toEqual([{ name: 'bash', description: 'Runs.', input_schema: { type: 'object' } }]);
  const marks = messages.map(
    ({ content }) => JSON.stringify(content).split('ephemeral').length - 1,
  );
  expect(marks).toEqual([0, 0, 0, 0, 1, 0, 1]);
  expect(messages.at(-1)?.content).toEqual([{ ...result('c2', 'y'), ...marked }]);
});

test('the server’s search tool is offered after the other tools, if there are any', () => {
  const tools = [{ name: 'bash', description: 'Runs.', parameters: {} }];
  const offered = (more: Partial<ModelRequest>) =>
    buildRequest(requestOf(more), { webSearch: true }).tools;
  const search = {
    type: 'web_search_20260318',
    name: 'web_search',
    allowed_callers: ['direct'],
  };
  expect(offered({ tools, instructions: 'Be brief.' })).toEqual([
    expect.objectContaining({ name: 'bash' }),
    search,
  ]);
  expect(offered({ tools, instructions: '' })?.at(-1)).toEqual({ ...search, ...marked });
  expect(offered({ tools: [] })).toBeUndefined();
});

test('without a system prompt, the last tool has a cache mark', () => {
  const tools = ['a', 'b'].map((name) => ({ name, description: name, parameters: {} }));
  const { system, tools: sent } = buildRequest(requestOf({ instructions: ' ', tools }));
  expect(system).toBeUndefined();
  const input_schema = { type: 'object' };
  expect(sent).toEqual([
    { name: 'a', description: 'a', input_schema },
    { name: 'b', description: 'b', input_schema, ...marked },
  ]);
  expect(buildRequest(requestOf({})).tools).toBeUndefined();
});

test('a conversation’s request begins with its earlier request, except for cache marks', () => {
  const all = [
    asks('a', [image]),
    signed('hm'),
    says('b'),
    calls('c1'),
    gives('c1', 'x'),
    signed('so'),
    says('d'),
    asks('e'),
  ];
  const whole = messagesOf(all) as unknown[];
  for (const length of [1, 5, 8]) {
    const part = messagesOf(all.slice(0, length)) as unknown[];
    expect(whole.slice(0, part.length)).toEqual(part);
  }
});

// With a thinking budget, the API requires an answer that calls tools to begin with thinking.
test('if the last calls came from another maker’s model, an older model continues without thinking', () => {
  const thinkingOf = (model: string, conversation: OutputItem[]) =>
    buildRequest(requestOf({ model, effort: 'low', conversation })).thinking;
  const old = 'claude-sonnet-4-5';
  const budget = { type: 'enabled', budget_tokens: 4_096 };
  const called = [asks('a'), calls('c'), gives('c', 'x')];
  expect(thinkingOf(old, called)).toBeUndefined();
  expect(thinkingOf('claude-opus-5-5', called)).toMatchObject({ type: 'adaptive' });
  expect(thinkingOf(old, [...called, asks('b')])).toBeUndefined();
  expect(thinkingOf(old, [...called, says('b'), asks('c')])).toEqual(budget);
  const own = [asks('a'), signed('hm'), calls('c'), gives('c', 'x'), calls('d'), gives('d', 'y')];
  expect(thinkingOf(old, own)).toEqual(budget);
});

test('a request for an answer in text still lists the tools, because the API requires the list after calls, and forbids further calls', () => {
  const tools = [{ name: 'f', description: '', parameters: { type: 'object' } }];
  const asked = { model: 'claude-sonnet-4-6', instructions: '', conversation: [asks('a')], tools };
  expect(buildRequest({ ...asked, isWithoutCalls: true })).toMatchObject({
    tools: [{ name: 'f' }],
    tool_choice: { type: 'none' },
  });
  expect(buildRequest(asked)).not.toHaveProperty('tool_choice');
});

test('many calls whose ids differ only at the end get different ids quickly', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => `${'x'.repeat(70)}${index}`);
  const conversation = many.flatMap((id) => [calls(id), gives(id, 'done')]);
  let { messages } = buildRequest(requestOf({}));
  const build = () => void ({ messages } = buildRequest(requestOf({ conversation })));
  expect(cpuMsOf(build)).toBeLessThan(2_000);
  const ids = messages.flatMap(({ content }) =>
    [content]
      .flat()
      .flatMap((block) => (typeof block === 'object' && block.type === 'tool_use' ? block.id : [])),
  );
  expect(new Set(ids).size).toBe(many.length);
});
