/** Model servers that send without end, to each maker's client. */
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { AnthropicClient } from '../../src/anthropic/index.ts';
import { TurnWriter } from '../../src/base/turn-writer.ts';
import { AnswerWriter } from '../../src/models/answer-writer.ts';
import type { ModelClient } from '../../src/models/model-client.ts';
import { OpenAiClient } from '../../src/openai/index.ts';
import { user } from '../openai/asking.ts';
import { endless, endlessPacked, events, growth, json, mostGrowth, serve } from './hostile-http.ts';

const clients: [string, (url: string) => ModelClient][] = [
  ['OpenAI’s Responses', (baseUrl) => new OpenAiClient({ baseUrl, api: 'responses' })],
  ['Chat Completions', (baseUrl) => new OpenAiClient({ baseUrl, api: 'chat' })],
  ['Anthropic’s Messages', (baseUrl) => new AnthropicClient({ baseUrl })],
];

const answers: [string, (response: ServerResponse) => void][] = [
  ['JSON', endless(json, '{"x":"', 'x')],
  ['packed JSON', endlessPacked(json, '[')],
  ['line of an event', endless(events, 'data: ', 'x')],
  ['packed line of an event', endlessPacked(events, 'x')],
  ['event', endless(events, '', 'data: x\n')],
  ['comment', endless(events, '', ': x\r\n')],
  ['text', endless({ 'content-type': 'text/plain' }, '', 'x')],
  ['error', endless(json, '{"error":"', 'x', 400)],
  ['packed error', endlessPacked(json, 'x', 500)],
];

const cases = clients.flatMap(([maker, open]) =>
  answers.map(([what, answer]) => ({ maker, open, what, answer })),
);

const never = new AbortController().signal;

test.each(cases)('an endless $what to $maker is read up to a bound', async ({ open, answer }) => {
  const { url } = await serve((_request, response) => answer(response));
  const writer = new AnswerWriter(new TurnWriter('t', () => undefined), new Set());
  const request = { model: 'm', instructions: '', conversation: [user('hi')], tools: [] };
  const grown = await growth(async () =>
    expect(open(url).answer(request, writer, never)).rejects.toMatchObject({
      name: 'ModelError',
      message: expect.stringMatching(/larger than \d+ bytes|status \d+|failed/),
    }),
  );
  expect(grown).toBeLessThan(mostGrowth);
});

test.each(cases)(
  'an endless $what as $maker’s list of models is read up to a bound',
  async (one) => {
    const { url } = await serve((_request, response) => one.answer(response));
    const grown = await growth(async () =>
      expect(one.open(url).listModels(never)).rejects.toMatchObject({ name: 'ModelError' }),
    );
    expect(grown).toBeLessThan(mostGrowth);
  },
);

test('a list of models without an end is left', async () => {
  let id = 0;
  const { url, requests } = await serve((_request, response) => {
    id += 1;
    const data = [{ id: `m${id}` }, { id: `long${id}`, display_name: 'x'.repeat(100_000) }];
    response.writeHead(200, json).end(JSON.stringify({ data, has_more: true, last_id: `m${id}` }));
  });
  const models = await new AnthropicClient({ baseUrl: url }).listModels(never);
  expect(models).toHaveLength(10);
  expect(requests()).toBe(10);
});
