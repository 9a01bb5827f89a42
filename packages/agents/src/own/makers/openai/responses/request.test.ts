import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../loop/model-client.ts';
import { responsesRequest } from './request.ts';

const request = (conversation: OutputItem[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'gpt-5',
  instructions: '',
  conversation,
  tools: [],
  ...more,
});
const input = (...conversation: OutputItem[]) =>
  responsesRequest(request(conversation)).input as object[];

const user = (content: string, blocks?: ContentBlock[]): OutputItem => ({
  type: 'message',
  id: 'u',
  origin: 'user',
  content,
  ...(blocks && { blocks }),
});
const agent = (content: string, raw?: unknown): OutputItem => ({
  type: 'message',
  id: 'm',
  origin: 'agent',
  content,
  ...(raw !== undefined && { raw }),
});
const thought = (raw?: unknown): OutputItem => ({
  type: 'reasoning',
  id: 'r',
  origin: 'agent',
  content: 'hm',
  ...(raw !== undefined && { raw }),
});
const call = (callId: string, text = '{}'): OutputItem => ({
  type: 'function_call',
  id: callId,
  callId,
  name: 'ls',
  arguments: text,
  origin: 'agent',
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

test('a request asks the server to store nothing, and to return reasoning that can be sent back', () => {
  expect(responsesRequest(request([user('hi')]))).toEqual({
    model: 'gpt-5',
    input: [{ role: 'user', content: 'hi' }],
    reasoning: { summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    store: false,
    stream: true,
  });
});

test('instructions, tools and effort are sent if they are set', () => {
  const tool = { name: 'ls', description: 'Lists.', parameters: { type: 'object' } };
  const whole = request([], { instructions: 'Be short.', tools: [tool], effort: 'low' });
  expect(responsesRequest(whole)).toMatchObject({
    instructions: 'Be short.',
    tools: [{ ...tool, type: 'function', strict: false }],
    reasoning: { effort: 'low', summary: 'auto' },
  });
});

test('a conversation keeps its order: reasoning, parallel calls, their outputs, the answer', () => {
  const own = { openai: { id: 'rs_1', encrypted_content: 'gAAAA' } };
  expect(
    input(
      user('list'),
      thought(own),
      call('a'),
      call('b', '{"p":1}'),
      output('a', 'A'),
      output('b', 'B'),
      agent('done', { openai: { phase: 'final_answer' } }),
    ),
  ).toEqual([
    { role: 'user', content: 'list' },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
    { type: 'function_call', call_id: 'a', name: 'ls', arguments: '{}' },
    { type: 'function_call', call_id: 'b', name: 'ls', arguments: '{"p":1}' },
    { type: 'function_call_output', call_id: 'a', output: 'A' },
    { type: 'function_call_output', call_id: 'b', output: 'B' },
    { type: 'message', role: 'assistant', content: 'done', phase: 'final_answer' },
  ]);
});

test('reasoning is left out if it is another maker’s, if it has no encrypted content, or if no item follows the reasoning', () => {
  const own = { openai: { id: 'rs_1', encrypted_content: 'gAAAA' } };
  const anthropic = { anthropic: { signature: 'x' } };
  // llama.cpp's form.
  const bare = { openai: { id: 'rs_2', encrypted_content: '' } };
  expect(
    input(thought(anthropic), thought(), thought(bare), agent('a'), thought(own), user('stop')),
  ).toEqual([
    { type: 'message', role: 'assistant', content: 'a' },
    { role: 'user', content: 'stop' },
  ]);
});

test('reasoning that is one of several raw values of its item is found', () => {
  const raw = [{ openai: { id: 'rs_1', encrypted_content: 'gAAAA' } }, { other: 1 }];
  expect(input(thought(raw), agent('a'))).toMatchObject([{ encrypted_content: 'gAAAA' }, {}]);
});

test('items that are only for people are left out', () => {
  expect(
    input(
      { type: 'message', id: 's', origin: 'system', content: 'A notice.' },
      { type: 'plan', id: 'p', entries: [] },
      { type: 'error', id: 'e', code: 'X', message: 'x', origin: 'system' },
      agent(''),
    ),
  ).toEqual([]);
});

test('arguments are sent back as an object, even if the model wrote something else', () => {
  expect(input(call('a', ''), call('b', '{"p":'), call('c', '[1]'))).toMatchObject([
    { arguments: '{}' },
    { arguments: '{"arguments":"{\\"p\\":"}' },
    { arguments: '{"arguments":"[1]"}' },
  ]);
});

test('files of a user message are parts of the message', () => {
  const pdf = { uri: 'blob:1', name: 'a.pdf', mimeType: 'application/pdf', blob: 'UERG' };
  expect(
    input(
      user('look', [
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
        { type: 'resource', resource: { uri: 'blob:2', name: 'a.txt', text: 'words' } },
        { type: 'resource', resource: pdf },
        { type: 'resource_link', uri: 'https://example.org', name: 'page' },
        { type: 'audio', mimeType: 'audio/wav', data: 'AAAA', name: 'a.wav' },
        { type: 'image', mimeType: 'image/png', uri: 'blob:3', name: 'gone.png' },
      ]),
    ),
  ).toEqual([
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'look' },
        { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' },
        { type: 'input_text', text: '<file name="a.txt">\nwords\n</file>' },
        {
          type: 'input_file',
          filename: 'a.pdf',
          file_data: 'data:application/pdf;base64,UERG',
        },
        { type: 'input_text', text: 'page: https://example.org' },
        { type: 'input_text', text: '[a.wav (audio/wav) cannot be shown here]' },
        { type: 'input_text', text: '[gone.png (image/png) cannot be shown here]' },
      ],
    },
  ]);
});

test('images that a tool returned are sent in the tool’s output', () => {
  const image: ContentBlock = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
  expect(input(call('a'), output('a', 'a picture', [image])).slice(1)).toEqual([
    {
      type: 'function_call_output',
      call_id: 'a',
      output: [
        { type: 'input_text', text: 'a picture' },
        { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' },
      ],
    },
  ]);
});

test('a request for an answer in text still lists the tools, but forbids calls', () => {
  const tools = [{ name: 'f', description: '', parameters: { type: 'object' } }];
  expect(responsesRequest(request([user('a')], { tools, isWithoutCalls: true }))).toMatchObject({
    tools: [{ name: 'f' }],
    tool_choice: 'none',
  });
  expect(responsesRequest(request([user('a')], { tools }))).not.toHaveProperty('tool_choice');
});

test('files of a type that no server can read are only named in a tool’s output', () => {
  const zip = { uri: 'file:///a.zip', mimeType: 'application/zip', blob: 'UEsD' };
  const blocks: ContentBlock[] = [
    { type: 'image', mimeType: 'image/bmp', data: 'AAAA', name: 'a.bmp' },
    { type: 'resource', resource: zip },
  ];
  expect(input(call('a'), output('a', 'two files', blocks)).slice(1)).toMatchObject([
    {
      output: [
        { text: 'two files' },
        { text: '[a.bmp (image/bmp) cannot be shown here]' },
        { text: '[file:///a.zip (application/zip) cannot be shown here]' },
      ],
    },
  ]);
});
