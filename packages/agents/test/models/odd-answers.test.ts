/**
 * Tests answers that the APIs' documentation does not mention: thinking in the text, errors with status 200, web pages.
 */
import type { Response } from '@liminal/protocol';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { AnthropicClient } from '../../src/own/makers/anthropic/index.ts';
import { createModelDrivers, type ModelClient } from '../../src/own/loop/index.ts';
import { OpenAiClient } from '../../src/own/makers/openai/index.ts';
import { foldTurn } from '../../src/testing/folding.ts';
import { expectWholeTurn, Watch } from '../../src/testing/watch.ts';
import { type Interface, interfaces } from './any-server.ts';
import { events, json, serve } from './hostile-http.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const clients: Record<Interface, (url: string) => ModelClient> = {
  'Chat Completions': (url) => new OpenAiClient({ baseUrl: `${url}/v1`, api: 'chat' }),
  Responses: (url) => new OpenAiClient({ baseUrl: `${url}/v1`, api: 'responses' }),
  Messages: (url) => new AnthropicClient({ baseUrl: url }),
};

const event = (value: object): string => {
  const name = 'type' in value ? `event: ${String(value.type)}\n` : '';
  return `${name}data: ${JSON.stringify(value)}\n\n`;
};

/** A streamed answer with these pieces of text. `reason`: the finish reason in the API's own term. */
const streams: Record<Interface, (pieces: readonly string[], reason?: string) => string> = {
  'Chat Completions': (pieces, reason = 'stop') =>
    [
      ...pieces.map((content) => ({ id: 'a', choices: [{ index: 0, delta: { content } }] })),
      { id: 'a', choices: [{ index: 0, delta: {}, finish_reason: reason }] },
    ]
      .map(event)
      .join('') + 'data: [DONE]\n\n',
  Responses: (pieces, reason = 'completed') => {
    const item = { type: 'message', id: 'm', role: 'assistant' };
    const whole = { ...item, content: [{ type: 'output_text', text: pieces.join('') }] };
    const at = { output_index: 0, content_index: 0, item_id: 'm' };
    return [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
      { type: 'response.output_item.done', output_index: 0, item: whole },
      { type: 'response.completed', response: { object: 'response', status: reason } },
    ]
      .map(event)
      .join('');
  },
  Messages: (pieces, reason = 'end_turn') =>
    [
      { type: 'message_start', message: { id: 'm', usage: {} } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...pieces.map((piece) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: piece },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: reason } },
      { type: 'message_stop' },
    ]
      .map(event)
      .join(''),
};

const stream = (kind: Interface, pieces: readonly string[], reason?: string) => {
  const body = streams[kind](pieces, reason);
  return (response: ServerResponse): void => void response.writeHead(200, events).end(body);
};

type Answering = (response: ServerResponse) => void;

/** A session whose server gives these answers, one per request; the last answer is repeated. */
async function open(kind: Interface, answers: readonly Answering[]) {
  const bodies: string[] = [];
  const { url } = await serve((request, response) => {
    void text(request).then((body) => {
      if (request.method !== 'POST') return response.writeHead(404, json).end('{}');
      bodies.push(body);
      return answers[Math.min(bodies.length, answers.length) - 1]?.(response);
    });
  });
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-odd-'));
  const servers = [{ name: 'odd', title: 'Odd', client: clients[kind](url), model: 'm' }];
  const retries = { attempts: 6, firstMs: 1, maxMs: 10 };
  const [provider] = createModelDrivers({ servers, tools: [], retries }).map(
    (driver) => new DriverProvider(driver),
  );
  if (provider === undefined) throw new Error('No provider was created.');
  const watch = new Watch(provider, 's');
  await provider.loadSession('s', { projectDir, config: {}, stored: { runs: async () => [] } });
  ends.push(async () => {
    await provider.close();
    await rm(projectDir, { recursive: true });
  });
  const runTurn = async (words: string): Promise<Response> => {
    const { turnId } = await provider.sendMessage('s', words);
    expectWholeTurn(await watch.ended(turnId));
    return foldTurn(watch.events, turnId);
  };
  return { runTurn, bodies, url };
}

/** The model's thinking and texts. */
const saidBy = ({ outputItems }: Response): string[][] =>
  outputItems.flatMap((item) =>
    (item.type === 'message' && item.origin === 'agent') || item.type === 'reasoning'
      ? [[item.type, item.content]]
      : [],
  );

const inKinds = (thinking: string, words: string): string[][] => [
  ...(thinking === '' ? [] : [['reasoning', thinking]]),
  ...(words === '' ? [] : [['message', words]]),
];

const texts: [text: string, thinking: string, words: string][] = [
  ['<think>I count.</think>Four.', 'I count.', 'Four.'],
  ['\n <think>\nI < count.\n</think>\n\nFour.', '\nI < count.\n', 'Four.'],
  ['I count.\n</think>\n\nFour.', 'I count.\n', 'Four.'],
  ['I < count: `a`</think>Four </think>.', 'I < count: `a`', 'Four </think>.'],
  ['<think>\n\n</think>\n\nFour.', '\n\n', 'Four.'],
  ['<think></think>Four.', '', 'Four.'],
  ['<think>I count and cou', 'I count and cou', ''],
  ['Four.', '', 'Four.'],
  ['', '', ''],
  ['Four <think>is</think> less.', '', 'Four <think>is</think> less.'],
  ['<thinking>Four.', '', '<thinking>Four.'],
  ['The tag `</think>` ends it.', '', 'The tag `</think>` ends it.'],
  ['Write:\n```\n</think>\n```', '', 'Write:\n```\n</think>\n```'],
  ['a <', '', 'a <'],
  ['<thi', '', '<thi'],
];

test.each(interfaces.flatMap((kind) => texts.map((one) => [kind, ...one] as const)))(
  'by %s: the text %j gives the thinking %j and the words %j, wherever the text is cut',
  async (kind, whole, thinking, words) => {
    const cuts = fc.array(fc.nat(whole.length), { maxLength: 6 });
    const samples = fc.sample(cuts, 4);
    const all = [[], Array.from({ length: whole.length }, (_, at) => at), ...samples];
    const piecesOf = (places: readonly number[]): string[] => {
      const sorted = [0, ...places.toSorted((a, b) => a - b), whole.length];
      return sorted.slice(1).map((to, index) => whole.slice(sorted[index], to));
    };
    const answers = all.map((places) => stream(kind, piecesOf(places)));
    const { runTurn, bodies } = await open(kind, answers);
    for (const places of all) {
      const response = await runTurn('How many?');
      expect({ places, said: saidBy(response).filter(([, said]) => said !== '') }).toEqual({
        places,
        said: inKinds(thinking, words),
      });
    }
    // The model gets its earlier text without the thinking, as from a server that removes the thinking.
    const last = bodies.at(-1) ?? '';
    const inJson = (said: string): string => JSON.stringify(said).slice(1, -1);
    expect(last).toContain(inJson(words));
    expect(thinking.trim() !== '' && last.includes(inJson(thinking))).toBe(false);
  },
);

test.each(interfaces)('by %s: an answer that ends with an error is an error', async (kind) => {
  const { runTurn, bodies } = await open(kind, [stream(kind, ['Fo'], 'error')]);
  const response = await runTurn('How many?');
  expect(response.status).toBe('error');
  expect(response.error?.message).toMatch(/ended the answer with an error/);
  expect(saidBy(response)).toEqual([['message', 'Fo']]);
  expect(bodies).toHaveLength(1);
});

const withJson =
  (value: unknown, type = 'application/json'): Answering =>
  (response) =>
    void response.writeHead(200, { 'content-type': type }).end(JSON.stringify(value));

test.each(
  interfaces.flatMap((kind) => [
    [kind, { error: { code: 503 } }, 'application/json'] as const,
    [kind, { error: { code: 503, message: 'Busy' } }, 'text/plain'] as const,
    [kind, { error: { code: '529', message: 'Busy' } }, 'application/json; charset=utf-8'] as const,
  ]),
)('by %s: the error %j with status 200 and %s is retried', async (kind, body, type) => {
  const { runTurn, bodies } = await open(kind, [withJson(body, type), stream(kind, ['Four.'])]);
  const response = await runTurn('How many?');
  expect(response.status).toBe('complete');
  expect(saidBy(response)).toEqual([['message', 'Four.']]);
  expect(bodies).toHaveLength(2);
});

test.each(interfaces)(
  'by %s: an error with status 200 that is not temporary ends the turn with the server’s message',
  async (kind) => {
    const { runTurn } = await open(kind, [
      withJson({ error: { code: 401, message: 'No such key' } }),
    ]);
    const { status, error } = await runTurn('How many?');
    expect(status).toBe('error');
    expect(error).toMatchObject({
      code: 'AUTHENTICATION',
      message: expect.stringContaining('No such key'),
    });
  },
);

test.each(
  interfaces.flatMap((kind) => [
    [kind, 'text/html; charset=utf-8', '<!doctype html><title>Sign in</title>'] as const,
    [kind, 'text/plain', '\n<html><title>Sign in</title>'] as const,
  ]),
)('by %s: a web page of the type %s is reported at once', async (kind, type, page) => {
  const { runTurn, bodies, url } = await open(kind, [
    (response) => void response.writeHead(200, { 'content-type': type }).end(page),
  ]);
  const { status, error } = await runTurn('How many?');
  expect(status).toBe('error');
  expect(error?.message).toMatch(
    new RegExp(`^${url}/v1/[a-z/]+ answers with a web page, not as a model’s server\\.`),
  );
  expect(bodies).toHaveLength(1);
});

test('if a server returns a page for the Responses API, Chat Completions are used', async () => {
  const { url } = await serve((request, response) => {
    if (request.url === '/v1/chat/completions') stream('Chat Completions', ['Four.'])(response);
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>');
  });
  const client = new OpenAiClient({ baseUrl: `${url}/v1` });
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-odd-'));
  const servers = [{ name: 'odd', title: 'Odd', client, model: 'm' }];
  const [provider] = createModelDrivers({ servers, tools: [] }).map(
    (driver) => new DriverProvider(driver),
  );
  if (provider === undefined) throw new Error('No provider was created.');
  ends.push(async () => {
    await provider.close();
    await rm(projectDir, { recursive: true });
  });
  const watch = new Watch(provider, 's');
  await provider.loadSession('s', { projectDir, config: {}, stored: { runs: async () => [] } });
  const { turnId } = await provider.sendMessage('s', 'How many?');
  await watch.ended(turnId);
  expect(saidBy(foldTurn(watch.events, turnId))).toEqual([['message', 'Four.']]);
});
