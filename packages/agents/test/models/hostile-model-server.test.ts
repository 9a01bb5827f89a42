/** Tests the clients for each maker's API with model servers that send endless data. */
import type { ServerResponse } from 'node:http';
import { firstOf } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { AnthropicClient } from '../../src/own/makers/anthropic/index.ts';
import { TurnWriter } from '../../src/base/turn-writer.ts';
import { AnswerWriter } from '../../src/own/loop/answer-writer.ts';
import type { ModelClient } from '../../src/own/loop/model-client.ts';
import { OpenAiClient } from '../../src/own/makers/openai/index.ts';
import { user } from '../openai/asking.ts';
import {
  endless,
  endlessPacked,
  events,
  flood,
  growth,
  json,
  mostGrowth,
  serve,
} from './hostile-http.ts';

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

test.each(cases)(
  'an endless $what to $maker is read only up to a limit',
  async ({ open, answer }) => {
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
  },
);

test.each(cases)(
  'an endless $what in place of $maker’s list of models is read only up to a limit',
  async (one) => {
    const { url } = await serve((_request, response) => one.answer(response));
    const grown = await growth(async () =>
      expect(one.open(url).listModels(never)).rejects.toMatchObject({ name: 'ModelError' }),
    );
    expect(grown).toBeLessThan(mostGrowth);
  },
);

const event = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const begun = (block: object, index = 0): string =>
  event('content_block_start', { index, content_block: block });
const grown = (delta: object): string => event('content_block_delta', { index: 0, delta });
const added = (item: object, index = 0): string =>
  event('response.output_item.added', { output_index: index, item });
const long = 'x'.repeat(100_000);
const bash = { type: 'tool_use', id: 'c', name: 'bash', input: {} };

/**
 * The beginning of an answer, and the piece that is repeated endlessly. The last four floods reach the limit of the
 * whole answer, which takes ten seconds each: only long runs have them.
 */
const floods: [string, 'messages' | 'responses', string, (count: number) => string][] = [
  ['pings', 'messages', '', () => event('ping', { long })],
  ['empty blocks', 'messages', '', (index) => begun({ type: 'text', text: '' }, index)],
  ['blocks of one id', 'messages', '', (index) => begun(bash, index % 2)],
  ['items', 'responses', '', (index) => added({ id: 'm', type: 'message', content: [] }, index)],
  ['unknown items', 'responses', '', (index) => added({ id: `o${index}`, type: 'odd' }, index)],
  [
    'arguments',
    'responses',
    added({ id: 'f', type: 'function_call', call_id: 'c', name: 'bash', arguments: '' }),
    () => event('response.function_call_arguments.delta', { output_index: 0, delta: long }),
  ],
  [
    'pieces of a signature',
    'messages',
    begun({ type: 'thinking', thinking: '' }),
    () => grown({ type: 'signature_delta', signature: long }),
  ],
  [
    'arguments',
    'messages',
    begun(bash),
    () => grown({ type: 'input_json_delta', partial_json: long }),
  ],
  [
    'unknown deltas',
    'messages',
    begun({ type: 'text', text: '' }),
    () => grown({ type: 'odd_delta', long }),
  ],
  ['unknown events', 'responses', '', () => event('response.odd', { long })],
];

test.each(firstOf(6, floods))(
  'endless %s from the %s API end the answer with an error',
  async (_what, api, start, more) => {
    const { url } = await serve((_request, response) => {
      let count = 0;
      response.writeHead(200, events).write(start);
      flood(response, () => more(count++));
    });
    const client =
      api === 'messages'
        ? new AnthropicClient({ baseUrl: url })
        : new OpenAiClient({ baseUrl: url, api });
    const writer = new AnswerWriter(new TurnWriter('t', () => undefined), new Set());
    const request = { model: 'm', instructions: '', conversation: [user('hi')], tools: [] };

    await expect(client.answer(request, writer, never)).rejects.toMatchObject({
      name: 'ModelError',
      message: expect.stringMatching(/larger than \d+ bytes|more than \d+ parts/),
    });
  },
);

test.each(clients)(
  '%s: a redirect to another server is rejected, and nothing is sent to that server',
  async (_maker, open) => {
    const other = await serve((_request, response) => response.end('{}'));
    const { url } = await serve((_request, response) => {
      response.writeHead(307, { location: `${other.url}/internal` }).end();
    });
    const writer = new AnswerWriter(new TurnWriter('t', () => undefined), new Set());
    const request = { model: 'm', instructions: '', conversation: [user('hi')], tools: [] };

    await expect(open(url).answer(request, writer, never)).rejects.toMatchObject({
      name: 'ModelError',
      message: expect.stringContaining(`redirects to ${other.url}, which is another server`),
    });
    expect(other.requests()).toBe(0);
  },
);

test.each(clients)('%s: a redirect on the same server is followed', async (_maker, open) => {
  const { url, requests } = await serve((asked, response) => {
    if (asked.url === '/here') response.writeHead(200, json).end('{"data":[{"id":"m"}]}');
    else response.writeHead(307, { location: '/here' }).end();
  });

  expect(await open(url).listModels(never)).toMatchObject([{ id: 'm' }]);
  expect(requests()).toBe(2);
});

test('an endless list of models is abandoned', async () => {
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
