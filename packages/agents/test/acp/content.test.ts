/** What a message may have besides its text, for agents that do not take everything. */
import type { ContentBlock } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { runAgent } from './running-agent.ts';

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
  'an agent that takes %s is given nothing else but links; the rest is refused before it hears of it',
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
