/** Tests whole turns of bare models: sessions use the makers' clients with scripted servers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chat, reply, startChatCompletionsApi, startMessagesApi, text } from '@liminal/testkit';
import { afterEach, expect, test } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { AnthropicClient } from '../../src/own/makers/anthropic/index.ts';
import type { ModelClient } from '../../src/own/loop/model-client.ts';
import { createModelDrivers } from '../../src/own/loop/model-driver.ts';
import { loudEcho } from '../../src/own/loop/testing/echo.ts';
import { OpenAiClient } from '../../src/own/makers/openai/index.ts';
import { Watch } from '../../src/testing/watch.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Returns the events of one turn. */
async function turnOf(client: ModelClient) {
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-live-turns-'));
  ends.push(() => rm(projectDir, { recursive: true }));
  const servers = [{ name: 'openai', title: 'A model', client, model: 'one' }];
  const [provider] = createModelDrivers({ servers, tools: [loudEcho] }).map(
    (driver) => new DriverProvider(driver),
  );
  if (provider === undefined) throw new Error('No provider was created.');
  ends.push(() => provider.close());
  const watch = new Watch(provider, 's');
  await provider.createSession({ sessionId: 's', projectDir });
  const { turnId } = await provider.sendMessage('s', 'Go');
  await watch.ended(turnId);
  return watch.events.map(({ payload }) => payload);
}

test('FR-001-25 FR-001-27 FR-001-28 FR-001-29 FR-001-30: the stream of an OpenAI server becomes items, and each call ends', async () => {
  const api = await startChatCompletionsApi({
    script: [
      chat.answer([
        chat.thinking('Let me think.', { field: 'reasoning_content', chunk: 4 }),
        chat.text('Looking.', { chunk: 3 }),
        chat.interleaved(
          chat.call('no_such', { path: 'src' }, { callId: 'a', chunk: 2 }),
          chat.call('none_either', { path: 'x' }, { callId: 'b', chunk: 3 }),
        ),
      ]),
      chat.answer('Done.'),
    ],
  });
  ends.push(() => api.close());
  const payloads = await turnOf(new OpenAiClient({ baseUrl: api.url, api: 'chat' }));
  const deltasOf = (id: string | undefined) =>
    payloads.flatMap((one) =>
      one.type === 'item_delta' && one.itemId === id ? [one.deltaContent ?? ''] : [],
    );
  const done = payloads.flatMap((one) => (one.type === 'item_done' ? [one.finalItem] : []));
  const [thought, said] = ['Let me think.', 'Looking.'].map((content) =>
    done.find((item) => 'content' in item && item.content === content),
  );
  expect([thought?.type, said?.type]).toEqual(['reasoning', 'message']);
  for (const item of [thought, said]) {
    const pieces = deltasOf(item?.id);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe(item && 'content' in item ? item.content : undefined);
  }
  expect(done.filter(({ type }) => type === 'function_call')).toMatchObject([
    { callId: 'a', name: 'no_such', arguments: '{"path":"src"}' },
    { callId: 'b', name: 'none_either', arguments: '{"path":"x"}' },
  ]);
  expect(payloads.at(-1)).toMatchObject({ type: 'response_done', status: 'completed' });
});

test.each(['stop', 'length', 'content_filter'])(
  'FR-001-31: a turn ends with the finish reason %s and its token counts',
  async (finishReason) => {
    const api = await startChatCompletionsApi({ script: [chat.answer('ha', { finishReason })] });
    ends.push(() => api.close());
    const payloads = await turnOf(new OpenAiClient({ baseUrl: api.url, api: 'chat' }));
    expect(payloads.at(-1)).toMatchObject({
      type: 'response_done',
      status: 'completed',
      finishReason,
      usage: { inputTokens: 100, outputTokens: 20 },
    });
  },
);

test('FR-001-24: the stream of Anthropic’s API becomes a turn', async () => {
  const api = await startMessagesApi({ script: [reply([text('I read it.', { chunk: 1 })])] });
  ends.push(() => api.close());
  const payloads = await turnOf(new AnthropicClient({ baseUrl: api.url, apiKey: 'sk-secret' }));
  expect(payloads.find(({ type }) => type === 'response_start')).toBeDefined();
  expect(payloads).toContainEqual(
    expect.objectContaining({
      type: 'item_done',
      finalItem: expect.objectContaining({ type: 'message', content: 'I read it.' }),
    }),
  );
  expect(payloads.at(-1)).toMatchObject({ type: 'response_done', finishReason: 'end_turn' });
});
