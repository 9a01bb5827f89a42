import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { conversationOf } from './conversation.ts';

const call: OutputItem = {
  type: 'function_call',
  id: 'a',
  callId: 'a',
  name: 'f',
  arguments: '{}',
  origin: 'agent',
};

const note: ContentBlock = { type: 'resource', resource: { uri: 'file:///a', text: 'A note.' } };
const link: ContentBlock = { type: 'resource_link', uri: 'file:///b', name: 'b' };
const image: ContentBlock = { type: 'image', mimeType: 'image/png', data: 'AAAA' };

/** The output item in the conversation that the model gets. */
function heard(output: string, blocks?: ContentBlock[]): OutputItem | undefined {
  const said = { type: 'function_call_output', id: 'a:o', callId: 'a', output } as const;
  const item = {
    ...said,
    success: true,
    origin: 'tool_harness',
    ...(blocks && { blocks }),
  } as const;
  return conversationOf([call, item])[1];
}

test('a model gets the beginning and the end of an output that is too long, with a note between them', () => {
  const long = `begin${'x'.repeat(10_000_000)}end`;
  const item = heard(long);
  const output = item?.type === 'function_call_output' ? item.output : '';
  expect(output.length).toBeLessThan(101_000);
  expect(output).toMatch(/^beginx+\n\[9900008 characters left out\]\nx+end$/);
});

test('a cut never divides a character', () => {
  const item = heard(`x${'😀'.repeat(100_000)}`);
  const output = item?.type === 'function_call_output' ? item.output : '';
  expect(output.isWellFormed()).toBe(true);
});

test('an attached text that is too long is also cut', () => {
  const text = 'y'.repeat(200_000);
  const item = heard('See the file.', [{ type: 'resource', resource: { uri: 'file:///c', text } }]);
  expect(JSON.stringify(item).length).toBeLessThan(101_000);
});

test('attachments whose text the output repeats are left out', () => {
  expect(heard('Look:\nA note.\nfile:///b', [note, link, image])).toMatchObject({
    blocks: [image],
  });
  expect(heard('Look.', [note, link])).toMatchObject({ blocks: [note, link] });
});
