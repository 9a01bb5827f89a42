import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { ContentBlock } from '@liminal/protocol';
import { updateProblems } from '@liminal/testkit/acp-schema';
import { expect, test } from 'vitest';
import { blockOf, toolContent } from './fold/content.ts';
import { withBytes } from './with-bytes.ts';

const stored: Record<string, string> = { 1: 'Hi' };
const blobs = {
  getBlob: async (hash: string) => {
    const text = stored[hash];
    if (text === undefined) throw new Error('The file does not exist.');
    return { bytes: new TextEncoder().encode(text), mimeType: 'text/plain' } as never;
  },
};

async function sentContent(block: ContentBlock): Promise<unknown> {
  const update = { sessionUpdate: 'agent_message_chunk', content: blockOf(block) } as const;
  const filled = (await withBytes(update, blobs)) as Extract<SessionUpdate, typeof update>;
  expect(updateProblems(filled)).toEqual([]);
  return filled.content;
}

const base64 = 'SGk=';

test.each<[string, ContentBlock, unknown]>([
  [
    'an image',
    { type: 'image', mimeType: 'image/png', uri: 'blob:1', name: 'a.png' },
    { type: 'image', mimeType: 'image/png', data: base64, _meta: { liminal: { name: 'a.png' } } },
  ],
  [
    'a sound',
    { type: 'audio', mimeType: 'audio/wav', uri: 'blob:1' },
    { type: 'audio', mimeType: 'audio/wav', data: base64 },
  ],
  [
    'a file',
    { type: 'resource', resource: { uri: 'blob:1', name: 'a b', mimeType: 'application/zip' } },
    {
      type: 'resource',
      resource: { uri: 'attachment:///a%20b', mimeType: 'application/zip', blob: base64 },
    },
  ],
  [
    'a text file with a URI',
    {
      type: 'resource',
      resource: { uri: 'blob:1', name: 'file:///a.md', mimeType: 'text/markdown' },
    },
    { type: 'resource', resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: 'Hi' } },
  ],
  [
    'a file without a name',
    { type: 'resource', resource: { uri: 'blob:1' } },
    { type: 'resource', resource: { uri: 'attachment:///file', blob: base64 } },
  ],
])('FR-039-02: %s is sent with its bytes', async (_, block, content) => {
  expect(await sentContent(block)).toEqual(content);
});

test('FR-039-02: a blob that is no longer stored is replaced by a text', async () => {
  const image = { type: 'image', mimeType: 'image/png', uri: 'blob:2' } as const;
  expect(await sentContent(image)).toEqual({
    type: 'text',
    text: '(This file is no longer stored.)',
  });
});

test.each(['tool_call', 'tool_call_update'] as const)(
  'FR-039-02: the content of a %s is sent with the bytes of its blobs, and the other content is unchanged',
  async (sessionUpdate) => {
    const image = { type: 'image', mimeType: 'image/png', uri: 'blob:1' } as const;
    const content = toolContent('See.', [image], [{ path: '/a', newText: 'b' }]);
    const update: SessionUpdate = { sessionUpdate, toolCallId: 'a', title: 'Look', content };
    const filled = await withBytes(update, blobs);
    expect(updateProblems(filled)).toEqual([]);
    expect(filled).toMatchObject({
      content: [content[0], { content: { data: base64 } }, content[2]],
    });
  },
);

test.each<SessionUpdate>([
  { sessionUpdate: 'plan', entries: [] },
  { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hi' } },
  { sessionUpdate: 'tool_call_update', toolCallId: 'a', title: 'Look' },
  { sessionUpdate: 'tool_call_update', toolCallId: 'a', content: toolContent('Hi', [], []) },
])('an update without blobs is returned unchanged: %j', async (update) => {
  expect(await withBytes(update, blobs)).toBe(update);
});
