import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import {
  type Complaint,
  type Concession,
  concessionsFor,
  filesOf,
  mayBeOfContent,
} from './complaints.ts';

const image = (data: string): ContentBlock => ({ type: 'image', mimeType: 'image/png', data });
const [first, second] = [image('AAAA'), image('BBBB')];
const thought: OutputItem = { type: 'reasoning', id: 'r', content: 'hm', origin: 'agent' };
const call = { type: 'function_call', callId: 'c', name: 'f', arguments: '{}' } as const;
const conversation: OutputItem[] = [
  { type: 'message', id: 'm', content: 'see', origin: 'user', blocks: [first, second] },
  thought,
  { ...call, id: 'c', origin: 'agent' },
];
const picture = (data: string) => ({ type: 'image', source: { data } });
const body = {
  messages: [{ content: [{ type: 'text' }, picture('AAAA'), picture('BBBB')] }],
  input: [{ content: [{ image_url: 'data:image/png;base64,AAAA' }, { image_url: 'BBBB' }] }],
};

const foundIn = (words: string, more: Partial<Complaint> = {}): Concession[] => {
  const rest = { status: 400, code: '', type: '', param: '', body: undefined, ...more };
  return concessionsFor({ words, ...rest }, conversation, body);
};

test.each([
  ['messages.0.content.2.image.source.base64.data: image exceeds 5 MB maximum', second],
  ['messages.0.content.1.tool_result.image: Could not process image', first],
  ["Invalid 'input[0].content[0].image_url'. Expected a base64-encoded data URL", first],
])('the error “%s” is about one file', (words, file) => {
  expect(foundIn(words)).toEqual([{ lost: { file: [file] } }]);
  expect(foundIn(words)[0]?.lost?.file?.[0]).toBe(file);
});

const ids: Concession = { rules: ['ids'] };
const turns: Concession = { rules: ['turns'] };
const thinking: Concession = { lost: { thought: [thought] } };
test.each([
  [ids, 'Tool call id was call_PTLP8xhu but must be a-z, A-Z, 0-9, with a length of 9.'],
  [ids, 'Tool call IDs should be alphanumeric strings with length 9!'],
  [ids, "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"],
  [ids, "Invalid 'input[1].call_id': string too long. Expected maximum length 64"],
  [turns, "Unexpected role 'user' after role 'tool'"],
  [turns, 'Expected last role User or Tool (or Assistant with prefix True) but got assistant'],
  [turns, 'Conversation roles must alternate user/assistant/user/assistant/...'],
  [
    turns,
    'This model does not support assistant message prefill. It must end with a user message.',
  ],
  [thinking, 'The encrypted content gAAA could not be verified.'],
  [thinking, "item['content'] is not an array"],
  [thinking, 'messages.1.content.0: Invalid `signature` in `thinking` block'],
  [
    { reasoningField: 'reasoning_content' },
    'The `reasoning_content` in the thinking mode must be passed back to the API.',
  ],
  [
    { reasoningField: 'reasoning_content' },
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
  ],
  [
    { lost: { thought: [thought], fields: conversation } },
    "property 'messages.1.reasoning_details' is unsupported",
  ],
  [{ lost: { file: [first, second] } }, 'No endpoints found that support image input'],
])('the concession %j avoids the error “%s”', (expected, words) => {
  expect(foundIn(words)).toEqual([expected]);
});

test('an error code alone can be enough for a concession; most errors lead to none', () => {
  expect(foundIn('no', { code: 'invalid_encrypted_content' })).toEqual([thinking]);
  expect(foundIn('no')).toEqual([]);
  expect(foundIn('The request must include a reasoning to store.')).toEqual([]);
  expect(foundIn('Rate limit: roles must alternate', { status: 429 })).toEqual([]);
});

const complaint = (words: string, more: Partial<Complaint> = {}): Complaint => ({
  status: 400,
  words,
  code: '',
  type: '',
  param: '',
  body: undefined,
  ...more,
});

test.each([400, 413, 415, 422])(
  'an error with status %i may be caused by the conversation if the server names no other reason',
  (status) => {
    expect(mayBeOfContent(complaint('Bad request.', { status }), true)).toBe(true);
    expect(mayBeOfContent(complaint('Bad request.', { status }), false)).toBe(false);
  },
);

test.each([401, 404, 499, 500, 503, undefined])(
  'an error with status %s and no known message is not caused by the conversation',
  (status) => {
    expect(mayBeOfContent(complaint('It failed.', { status }), true)).toBe(false);
  },
);

test.each([
  'Jinja Exception: no such filter',
  'The chat template rejects this.',
  'Template error at line 1',
  'template exception',
  'raise_exception was called',
  'Cannot identify an image file',
  'failed to decode the audio',
  'unable to open file',
  'Invalid image',
  'truncated PDF',
  'image: unknown format',
])('a failure of the server is caused by the conversation if the message is “%s”', (words) => {
  for (const isUnknown of [true, false]) {
    expect(mayBeOfContent(complaint(words, { status: 500 }), isUnknown)).toBe(true);
  }
});

test('a file is the reason only if the message names the file soon after the failure', () => {
  const far = (distance: number): string => `Failed to read${' '.repeat(distance)}image`;
  expect(mayBeOfContent(complaint(far(40), { status: 500 }), true)).toBe(true);
  expect(mayBeOfContent(complaint(far(41), { status: 500 }), true)).toBe(false);
  const later = `Failed to read the socket. ${'x'.repeat(60)} Failed to load the image.`;
  expect(mayBeOfContent(complaint(later, { status: 500 }), true)).toBe(true);
});

test.each([401, 402, 403, 429])(
  'an error about access, with status %i, leads to no concession',
  (status) => {
    expect(foundIn('Roles must alternate.', { status })).toEqual([]);
  },
);

test('some errors lead to a concession by the server’s code alone: an error of Mistral, and an error about a body that is too large', () => {
  expect(foundIn('no', { code: '3280' })).toEqual([ids]);
  expect(foundIn('no', { code: '3230' })).toEqual([turns]);
  expect(foundIn('no', { status: 413 })).toEqual([{ lost: { file: [first, second] } }]);
});

const sound: ContentBlock = { type: 'audio', mimeType: 'audio/wav', data: 'CCCC' };
const paper: ContentBlock = { type: 'resource', resource: { uri: 'a', blob: 'DDDD' } };
const shown = image('EEEE');
const noBytes: ContentBlock[] = [
  { type: 'resource', resource: { uri: 'b', text: 'b' } },
  { type: 'resource_link', uri: 'c', name: 'c' },
];
const manyFiles: OutputItem[] = [
  { type: 'message', id: 'm', content: '', origin: 'user', blocks: [first, sound, paper] },
  { type: 'message', id: 'n', content: '', origin: 'user', blocks: noBytes },
  { type: 'message', id: 'o', content: '', origin: 'agent' },
  {
    type: 'function_call_output',
    id: 'p',
    callId: 'c',
    output: '',
    success: true,
    origin: 'tool_harness',
    blocks: [shown],
  },
];

test('the files of a conversation are the blocks with bytes, of messages and outputs', () => {
  expect(filesOf(manyFiles)).toEqual([first, sound, paper, shown]);
  expect(filesOf(manyFiles, (_block, { id }) => id === 'p')).toEqual([shown]);
});

test.each<[string, Partial<Complaint>, ContentBlock[]]>([
  ['image input is not supported by this model', {}, [first, shown]],
  ['Audio input is not supported - hint: use a projector', {}, [sound]],
  ['At most 0 image(s) may be provided in one prompt.', {}, [first, shown]],
  ['At most 0 audio(s) may be provided in one prompt.', {}, [sound]],
  ['No endpoints found that support audio input', {}, [sound]],
  ['no', { code: 'unsupported_format' }, [sound]],
  ['m is not a multimodal model', {}, [first, sound, paper, shown]],
  ["Output of tool call should be 'Input text'", {}, [shown]],
  ["'input_file' is not supported", {}, [paper]],
  ['unsupported content[].type', {}, [paper]],
])('the error “%s” %j is about certain files', (words, more, file) => {
  expect(concessionsFor(complaint(words, more), manyFiles, {})).toEqual([{ lost: { file } }]);
});

test('the path to a file may be in the error’s field; the path counts only if the error is about a file', () => {
  const param = 'messages[0].content[1]';
  expect(foundIn('Could not process the image.', { param })).toEqual([{ lost: { file: [first] } }]);
  expect(foundIn('Could not process this.', { param })).toEqual([]);
  expect(foundIn('The image is wrong: messages')).toEqual([]);
  expect(foundIn('The image is wrong.', { param: 'messages[0]' })).toEqual([
    { lost: { file: [first, second] } },
  ]);
  expect(foundIn('The image is wrong.', { param: 'messages.9' })).toEqual([]);
});

test.each([
  'messages.1: Invalid data in redacted_thinking block',
  'Invalid `data` in `redacted_thinking` block',
  'Invalid signature in thinking block',
  'The encrypted content of item rs_1 could not be decrypted',
  'thinking blocks of a different conversation',
  'The thinking in the latest message cannot be modified.',
])('the thinking is left out after the error “%s”', (words) => {
  expect(foundIn(words)).toEqual([thinking]);
});

test.each([
  ['The reasoning must be provided.', 'reasoning'],
  ['Missing Reasoning_Content', 'reasoning_content'],
  ['missing the field reasoning', 'reasoning'],
])('after “%s”, reasoning is sent back in the field %s', (words, reasoningField) => {
  expect(foundIn(words)).toEqual([{ reasoningField }]);
});

test('calls without a thought signature become text if the server demands signatures', () => {
  const signed: OutputItem = { ...call, id: 'd', origin: 'agent', raw: { signature: 's' } };
  const items = [...conversation, signed];
  const words = 'Function call is missing a thought_signature in functionCall parts.';
  expect(concessionsFor(complaint(words), items, body)).toEqual([{ lost: { call: conversation } }]);
  expect(foundIn('missing a valid ThoughtSignature')).toEqual([{ lost: { call: conversation } }]);
});
