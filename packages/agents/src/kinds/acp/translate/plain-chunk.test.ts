import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPlainChunk } from './plain-chunk.ts';
import { turnOf } from './testing/recorded-translator.ts';

const plain = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hi' } };

test('pieces of messages and thoughts are plain, with or without a message id', () => {
  expect(isPlainChunk(plain)).toBe(true);
  expect(isPlainChunk({ ...plain, sessionUpdate: 'agent_thought_chunk' })).toBe(true);
  expect(isPlainChunk({ ...plain, messageId: 'm' })).toBe(true);
  expect(isPlainChunk({ ...plain, messageId: null })).toBe(true);
});

test('a chunk that has more than text is read with the schemas', () => {
  expect(isPlainChunk({ ...plain, _meta: {} })).toBe(false);
  expect(isPlainChunk({ ...plain, messageId: 7 })).toBe(false);
  expect(isPlainChunk({ ...plain, content: { ...plain.content, annotations: null } })).toBe(false);
  expect(isPlainChunk({ ...plain, content: { type: 'text' } })).toBe(false);
  expect(isPlainChunk({ ...plain, sessionUpdate: 'user_message_chunk' })).toBe(false);
});

test('a plain chunk gives the same events as a chunk that is read with the schemas', () => {
  const text = fc.constantFrom('', 'a', 'b ');
  const chunk = fc.record(
    {
      sessionUpdate: fc.constantFrom('agent_message_chunk', 'agent_thought_chunk'),
      content: fc.record({ type: fc.constant('text'), text }),
      messageId: fc.constantFrom(null, 'm', 'n'),
    },
    { requiredKeys: ['sessionUpdate', 'content'] },
  );
  // A null field counts as missing, but the chunk is then not plain.
  const careful = (update: object) => ({ ...update, _meta: null });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 8 }), (chunks) => {
      expect(chunks.every((one) => isPlainChunk(one))).toBe(true);
      const slow = chunks.map((one) => careful(one));
      expect(slow.some((one) => isPlainChunk(one))).toBe(false);
      expect(turnOf(chunks)).toEqual(turnOf(slow));
    }),
  );
});
