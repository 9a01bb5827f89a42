/** The content that a message may have besides text, for agents that do not accept every kind. */
import type { ContentBlock } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { runAgent, messagesOf } from './running-agent.ts';

const data = Buffer.from('Ä').toString('base64');
const blocks = {
  image: { type: 'image', mimeType: 'image/png', data },
  audio: { type: 'audio', mimeType: 'audio/wav', data },
  embeddedContext: {
    type: 'resource',
    resource: { uri: 'blob:1', name: 'notes.md', mimeType: 'text/markdown', text: '# Ä\n' },
  },
} satisfies Record<string, ContentBlock>;
const link = { type: 'resource_link', uri: 'file:///code/a.ts', name: 'a.ts' } as const;
const kinds = Object.keys(blocks) as (keyof typeof blocks)[];

test.each([undefined, ...kinds])(
  'an agent that accepts %s gets only this content and links; other content is refused before it reaches the agent',
  async (taken) => {
    const promptCapabilities = taken === undefined ? {} : { [taken]: true };
    const agentCapabilities = { loadSession: true, promptCapabilities };
    const { create, provider, control, calls } = await runAgent({
      initialize: { agentCapabilities },
    });
    const { sessionId } = await create();
    const say = (block: ContentBlock) =>
      provider.sendMessage(sessionId, 'Look.', { blocks: [block, link] });
    const refused = kinds.filter((kind) => kind !== taken);
    for (const kind of refused) {
      await expect(say(blocks[kind])).rejects.toMatchObject({ code: 'CONTENT_NOT_SUPPORTED' });
    }
    expect(control.received.filter(({ method }) => method === 'session/prompt')).toEqual([]);

    const given = taken === undefined ? link : blocks[taken];
    await say(given);
    const { params } = await control.until(({ method }) => method === 'session/prompt');
    const types = ['text', given.type, 'resource_link'];
    expect(params?.['prompt']).toMatchObject(types.map((type) => ({ type })));
    expect((await calls()).filter((method) => method === 'session/prompt')).toHaveLength(1);
  },
);

test('a turn that ends without output gets a notice, but not a turn with a call or a stopped turn', async () => {
  const call = { sessionUpdate: 'tool_call', toolCallId: 'a', title: 'Reads', status: 'completed' };
  const { create, provider } = await runAgent({
    turns: [
      { when: 'nothing', steps: [] },
      { when: 'call', steps: [{ update: call }] },
      { when: 'refusal', steps: [{ stop: { stopReason: 'refusal' } }] },
      { steps: [{ hang: true }] },
    ],
  });
  const listener = await create();
  const nothing = 'system: Scripted ended its turn without an answer.';
  expect(messagesOf(await listener.ask('Say nothing.'))).toEqual(['user: Say nothing.', nothing]);
  expect(messagesOf(await listener.ask('Make a call.'))).toEqual(['user: Make a call.']);
  expect(messagesOf(await listener.ask('Be a refusal.'))).toEqual(['user: Be a refusal.']);
  const turnId = await listener.send('Wait.');
  await provider.cancelTurn(listener.sessionId);
  expect(messagesOf(await listener.response(turnId))).toEqual(['user: Wait.']);
});

test.each([
  [{ code: -32603 }, 'The agent gave no reason, only the code -32603.'],
  [{ code: -32000, message: 7, data: { details: 'No disk.' } }, 'No disk.'],
  ['No disk.', 'No disk.'],
  [{}, 'The agent gave no reason, only the code -32603.'],
])(
  'an error answer without the fields of JSON-RPC is shown as a sentence: %j',
  async (error, told) => {
    // The script fills in the request’s id.
    const answer = `{"jsonrpc":"2.0","id":{{requestId}},"error":${JSON.stringify(error)}}`;
    const { create } = await runAgent({ turns: [{ steps: [{ raw: answer }, { hang: true }] }] });
    const response = await (await create()).ask('Hi.');
    expect(response.error?.message).toContain(told);
    expect(response.error?.message).not.toContain('jsonrpc');
  },
);
