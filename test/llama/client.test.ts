/** Tests the client of OpenAI's interfaces with llama.cpp's own server. */
import { OpenAiClient } from '@liminal/agents/openai';
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { type LlamaServer, pixel } from '@liminal/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Asking, itemsOf, user } from '../../packages/agents/test/openai/asking.ts';
import { contextLength, llamaServer, prompts } from './stage.ts';

let llama: LlamaServer;

beforeAll(async () => {
  llama = await llamaServer();
});
afterAll(() => llama.close());

const list = {
  name: 'list',
  description: 'Lists the project',
  parameters: { type: 'object', properties: {} },
};

describe.each([
  { api: 'responses', stop: 'completed', calls: 'completed', cut: 'completed' },
  { api: 'chat', stop: 'stop', calls: 'tool_calls', cut: 'length' },
] as const)('through the interface $api', ({ api, stop, calls, cut }) => {
  const client = () => new OpenAiClient({ baseUrl: llama.url, api });

  test('a model is listed, and the model’s answer contains its usage', async () => {
    expect(await client().listModels(AbortSignal.timeout(10_000))).toEqual([
      { id: 'tiny', name: undefined, contextWindow: contextLength },
    ]);
    const asking = new Asking(client(), { conversation: [user(prompts.text)] });
    expect(await asking.answer).toMatchObject({
      calls: [],
      finishReason: stop,
      usage: { inputTokens: expect.any(Number), outputTokens: 5 },
    });
    expect(asking.items).toMatchObject([{ type: 'message', content: 'Good day to you.' }]);
  });

  test('the model calls a tool, and uses the tool’s output in its answer', async () => {
    const conversation = [user(prompts.tool)];
    const asking = new Asking(client(), { conversation, tools: [list] });
    const answer = await asking.answer;
    expect(answer).toMatchObject({
      finishReason: calls,
      calls: [{ name: 'list', arguments: '{}' }],
    });
    const output: OutputItem = {
      type: 'function_call_output',
      id: 'out',
      callId: answer.calls[0]!.callId,
      output: 'a.txt',
      success: true,
      origin: 'tool_harness',
    };
    const after = [...conversation, ...asking.items, output];
    expect(await itemsOf(client(), { conversation: after, tools: [list] })).toMatchObject([
      { content: 'So be it.' },
    ]);
    // Through one interface, the server accepts only text as the output of a tool. Through the other interface, the
    // server's model cannot read images.
    const blocks: ContentBlock[] = [{ type: 'image', mimeType: 'image/png', data: pixel }];
    const shown = [...after.slice(0, -1), { ...output, blocks }, user(prompts.text)];
    expect(await itemsOf(client(), { conversation: shown, tools: [list] })).toMatchObject([
      { content: 'Good day to you.' },
    ]);
  });

  test('if the server rejects files, the model gets their names instead, also in each later turn', async () => {
    const pdf = { uri: 'b', name: 'a.pdf', mimeType: 'application/pdf', blob: 'UERG' };
    const blocks: ContentBlock[] = [
      { type: 'image', mimeType: 'image/png', data: pixel },
      { type: 'resource', resource: pdf },
    ];
    const said: OutputItem = { type: 'message', id: 'u', origin: 'user', content: 'See', blocks };
    const answered: OutputItem = { type: 'message', id: 'm', origin: 'agent', content: 'Yes.' };
    const conversation = [said, answered, user(prompts.text)];
    expect(await itemsOf(client(), { conversation })).toMatchObject([
      { content: 'Good day to you.' },
    ]);
  });

  test('if a conversation is too long, the error has a code of its own', async () => {
    const { answer } = new Asking(client(), { conversation: [user(prompts.long)] });
    await expect(answer).rejects.toMatchObject({ code: 'CONTEXT_LENGTH', isPassing: false });
  });

  test('if the server cuts off an answer, the answer has its finish reason, or none', async () => {
    const { answer } = new Asking(client(), { conversation: [user(prompts.slow)] });
    expect((await answer).finishReason).toBe(cut);
  });

  test('when a turn is stopped, the model stops generating', async () => {
    const asking = new Asking(client(), { conversation: [user(prompts.slow)] });
    await expect.poll(() => asking.text).toContain('On and on');
    asking.stop();
    await expect(asking.answer).rejects.toThrow('abort');
    await expect.poll(() => llama.isBusy()).toBe(false);
  });
});
