import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { type Complaint, type Concession, concessionsFor } from './complaints.ts';

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
])('“%s” is about one file', (words, file) => {
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
])('%j is what “%s” asks for', (expected, words) => {
  expect(foundIn(words)).toEqual([expected]);
});

test('an error code alone can be enough for a concession; most errors lead to none', () => {
  expect(foundIn('no', { code: 'invalid_encrypted_content' })).toEqual([thinking]);
  expect(foundIn('no')).toEqual([]);
  expect(foundIn('The request must include a reasoning to store.')).toEqual([]);
  expect(foundIn('Rate limit: roles must alternate', { status: 429 })).toEqual([]);
});
