import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../loop/model-client.ts';
import { chatRequest } from './request.ts';

const request = (conversation: OutputItem[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'qwen3',
  instructions: '',
  conversation,
  tools: [],
  ...more,
});
const messages = (...conversation: OutputItem[]) => chatRequest(request(conversation)).messages;

const said = (
  origin: 'user' | 'agent' | 'system',
  content: string,
  blocks?: ContentBlock[],
): OutputItem => ({ type: 'message', id: 'm', origin, content, ...(blocks && { blocks }) });
const call = (callId: string, raw?: unknown): OutputItem => ({
  type: 'function_call',
  id: callId,
  callId,
  name: `tool_${callId}`,
  arguments: '{}',
  origin: 'agent',
  ...(raw !== undefined && { raw }),
});
const output = (callId: string, text: string, blocks?: ContentBlock[]): OutputItem => ({
  type: 'function_call_output',
  id: `${callId}:out`,
  callId,
  output: text,
  success: true,
  origin: 'tool_harness',
  ...(blocks && { blocks }),
});
const toolCall = (id: string) => ({
  id,
  type: 'function',
  function: { name: `tool_${id}`, arguments: '{}' },
});
const tool = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
const image: ContentBlock = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
const imagePart = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

test('a request asks for a stream and for token counts', () => {
  expect(chatRequest(request([said('user', 'hi')]))).toEqual({
    model: 'qwen3',
    messages: [{ role: 'user', content: 'hi' }],
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('instructions, tools and effort are sent if they are set', () => {
  const face = { name: 'ls', description: 'Lists.', parameters: { type: 'object' } };
  const whole = request([], { instructions: 'Be short.', tools: [face], effort: 'low' });
  expect(chatRequest(whole)).toMatchObject({
    messages: [{ role: 'system', content: 'Be short.' }],
    tools: [{ type: 'function', function: face }],
    reasoning_effort: 'low',
  });
});

test('text and calls of one answer form one message, followed by the outputs in the order of the calls', () => {
  expect(
    messages(
      said('user', 'list'),
      { type: 'reasoning', id: 'r', origin: 'agent', content: 'hm' },
      said('agent', 'Looking.'),
      call('a'),
      call('b'),
      output('b', 'B'),
      output('a', 'A'),
      call('c'),
      output('c', 'C'),
      said('agent', 'done'),
    ),
  ).toEqual([
    { role: 'user', content: 'list' },
    { role: 'assistant', content: 'Looking.', tool_calls: [toolCall('a'), toolCall('b')] },
    tool('a', 'A'),
    tool('b', 'B'),
    { role: 'assistant', content: null, tool_calls: [toolCall('c')] },
    tool('c', 'C'),
    { role: 'assistant', content: 'done' },
  ]);
});

test('text and calls after an output form the next message', () => {
  const next = [said('agent', 'And now.'), call('b'), output('b', 'B')];
  expect(messages(call('a'), output('a', 'A'), ...next).slice(2)).toEqual([
    { role: 'assistant', content: 'And now.', tool_calls: [toolCall('b')] },
    tool('b', 'B'),
  ]);
});

test('a user message between a call and its output is moved behind the output', () => {
  expect(messages(call('a'), said('user', 'wait'), output('a', 'A'), said('agent', 'ok'))).toEqual([
    { role: 'assistant', content: null, tool_calls: [toolCall('a')] },
    tool('a', 'A'),
    { role: 'user', content: 'wait' },
    { role: 'assistant', content: 'ok' },
  ]);
});

test('if a later answer repeats a call id, each of the two calls has its own output', () => {
  expect(messages(call('a'), output('a', '1'), call('a'), output('a', '2'))).toEqual([
    { role: 'assistant', content: null, tool_calls: [toolCall('a')] },
    tool('a', '1'),
    { role: 'assistant', content: null, tool_calls: [toolCall('a')] },
    tool('a', '2'),
  ]);
});

test('successive user messages are joined, and notices are left out', () => {
  expect(messages(said('user', 'one'), said('system', 'A notice.'), said('user', 'two'))).toEqual([
    { role: 'user', content: 'one\n\ntwo' },
  ]);
});

test('files of a user message are parts of the message', () => {
  const pdf = { uri: 'blob:1', name: 'a.pdf', mimeType: 'application/pdf', blob: 'UERG' };
  const blocks: ContentBlock[] = [
    image,
    { type: 'resource', resource: pdf },
    { type: 'audio', mimeType: 'audio/mpeg', data: 'AAAA' },
    { type: 'audio', mimeType: 'audio/ogg', data: 'AAAA', name: 'a.ogg' },
  ];
  expect(messages(said('user', 'look', blocks))).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        imagePart,
        {
          type: 'file',
          file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,UERG' },
        },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        { type: 'text', text: '[a.ogg (audio/ogg) cannot be shown here]' },
      ],
    },
  ]);
});

test.each([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
])('audio of the type %s is sent unchanged, as %s', (mimeType, format) => {
  const data = Buffer.from([0, 255, 10, 13, 128, 62, 63]).toString('base64');
  expect(messages(said('user', 'listen', [{ type: 'audio', mimeType, data }]))).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'listen' },
        { type: 'input_audio', input_audio: { data, format } },
      ],
    },
  ]);
});

test('a message with only text is sent as one string, which every server accepts', () => {
  const blocks: ContentBlock[] = [
    { type: 'resource', resource: { uri: 'blob:2', name: 'a.txt', text: 'words' } },
    { type: 'resource_link', uri: 'file:///tmp/a.ts', name: 'a.ts' },
  ];
  expect(messages(said('user', 'look', blocks))).toEqual([
    { role: 'user', content: 'look\n\n<file name="a.txt">\nwords\n</file>\n\n/tmp/a.ts' },
  ]);
});

test('images that tools return are sent after all outputs', () => {
  expect(
    messages(call('a'), call('b'), output('a', 'picture', [image]), output('b', 'B')).slice(1),
  ).toEqual([
    tool('a', 'picture'),
    tool('b', 'B'),
    { role: 'user', content: [{ type: 'text', text: 'From the tool tool_a:' }, imagePart] },
  ]);
});

test('additional fields of a call are sent back to the server', () => {
  const extra = { google: { thought_signature: 'x' } };
  const own = call('a', { openai: { extra_content: extra } });
  expect(messages(own, output('a', 'A'))[0]).toMatchObject({
    tool_calls: [{ id: 'a', extra_content: extra }],
  });
});

test('a request for an answer in text still lists the tools, but forbids calls', () => {
  const tools = [{ name: 'f', description: '', parameters: { type: 'object' } }];
  expect(chatRequest(request([], { tools, isWithoutCalls: true }))).toMatchObject({
    tools: [{ function: { name: 'f' } }],
    tool_choice: 'none',
  });
  expect(chatRequest(request([], { tools }))).not.toHaveProperty('tool_choice');
});
