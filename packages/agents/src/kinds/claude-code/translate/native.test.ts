import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StreamMessage } from './native.ts';
import { isPlainDelta } from './native.ts';

const plain = {
  type: 'stream_event',
  parent_tool_use_id: null,
  session_id: 's',
  event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
};

test('deltas of text, thinking and arguments are plain', () => {
  for (const delta of [
    { type: 'text_delta', text: 'Hi' },
    { type: 'thinking_delta', thinking: 'Hm' },
    { type: 'input_json_delta', partial_json: '{' },
  ]) {
    expect(isPlainDelta({ ...plain, event: { ...plain.event, delta } })).toBe(true);
  }
});

test('a delta that names a user message or abandoned blocks is read by the schema', () => {
  expect(isPlainDelta({ ...plain, user_message_uuid: 'u' })).toBe(false);
  expect(isPlainDelta({ ...plain, user_message_uuids: ['u'] })).toBe(false);
  expect(isPlainDelta({ ...plain, abandoned_blocks: { from_block_index: 0 } })).toBe(false);
});

test('`isPlainDelta` accepts only messages that the schema accepts unchanged', () => {
  const value = fc.oneof(
    fc.constantFrom<unknown>(undefined, null, 'text_delta', 'content_block_delta', Number.NaN),
    fc.anything({ maxDepth: 1 }),
  );
  const message = fc.record({
    type: fc.constantFrom('stream_event', 'assistant'),
    parent_tool_use_id: value,
    event: fc.record(
      {
        type: fc.constantFrom('content_block_delta', 'message_stop'),
        index: value,
        delta: fc.record({ type: value, text: value, thinking: value }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    ),
  });
  fc.assert(
    fc.property(message, (candidate) => {
      const read = isPlainDelta(candidate) ? StreamMessage.parse(candidate) : candidate;
      expect(read).toEqual(candidate);
    }),
    { numRuns: 2_000 },
  );
});
