import { expect, test } from 'vitest';
import { readTranscript } from './transcript.ts';

const timestamp = '2026-01-01T00:00:00.000Z';

test('an entry has all readable fields', () => {
  const usage = { input_tokens: 1, output_tokens: 2 };
  const content = [{ type: 'text', text: 'Hi.' }];
  const entry = { type: 'assistant', uuid: 'u', timestamp, parent_tool_use_id: 'c', isMeta: true };
  const message = { id: 'm', model: 'large', content, usage };
  expect(readTranscript([{ ...entry, subtype: 's', message }])).toEqual([
    {
      type: 'assistant',
      uuid: 'u',
      timestamp,
      subtype: 's',
      isMeta: true,
      parentCallId: 'c',
      messageId: 'm',
      model: 'large',
      blocks: content,
      usage,
    },
  ]);
});

test('an entry without a message id uses its own id, and has no blocks', () => {
  const nothing = { parent_tool_use_id: null, message: { usage: null } };
  const entries = [
    { type: 'user', uuid: 'u', ...nothing },
    { type: 'system', uuid: 'v' },
  ];
  expect(readTranscript(entries)).toEqual(
    entries.map(({ type, uuid }) => ({
      type,
      uuid,
      timestamp: '1970-01-01T00:00:00.000Z',
      subtype: undefined,
      isMeta: false,
      parentCallId: undefined,
      messageId: uuid,
      model: undefined,
      blocks: [],
      usage: undefined,
    })),
  );
});

test('a plain string is one block', () => {
  const [entry] = readTranscript([{ type: 'user', uuid: 'u', message: { content: 'Hi.' } }]);
  expect(entry?.blocks).toEqual([{ type: 'text', text: 'Hi.' }]);
});

test.each([null, 7, {}, { type: 'summary', uuid: 'u' }, { type: 'user' }])(
  'a value that is not an entry is left out: %j',
  (value) => {
    expect(readTranscript([value])).toEqual([]);
  },
);
