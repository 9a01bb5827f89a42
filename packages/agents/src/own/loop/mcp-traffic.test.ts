import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { McpExcess, type McpLimits, mcpLimits, McpTraffic } from './mcp-traffic.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const address = 'https://mcp.example/mcp';
const mib = 1024 * 1024;

/** The traffic with a server that sends these answers to HTTP requests, one after another. */
function traffic(limits: Partial<McpLimits> = {}, answers: (Response | Error)[] = []) {
  const excesses: string[] = [];
  const asked: [url: string, init: RequestInit | undefined][] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    asked.push([url instanceof Request ? url.url : url.toString(), init]);
    const answer = answers.shift() ?? new Response('Hi');
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const made = new McpTraffic({ ...mcpLimits, ...limits }, ({ message }) => excesses.push(message));
  return { traffic: made, excesses, asked };
}

/** Watches a server's transport; the returned function delivers a message from the server. */
function watched(made: McpTraffic): (message: object) => void {
  const transport = {} as Transport;
  expect(made.watch(transport)).toBe(transport);
  return (message) => transport.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
}

const notice = { method: 'note' };
const question = { method: 'ask', id: 1 };
const answer = { id: 1, result: {} };

test('more messages in a minute than the limit count as an excess, which is reported once', () => {
  const { traffic: made, excesses } = traffic({ messagesPerMinute: 3, requestsPerMinute: 1 });
  const receive = watched(made);
  for (const message of [notice, answer, notice]) receive(message);
  expect(made.excess).toBeUndefined();
  receive(answer);
  receive(notice);
  expect(excesses).toEqual(['It sent more than 3 messages in a minute.']);
  expect(made.excess).toBeInstanceOf(McpExcess);
  expect(made.excess).toMatchObject({ code: 'MCP_EXCESS', message: excesses[0] });
});

test('more requests in a minute than the limit count as an excess; notifications and answers do not count', () => {
  const { traffic: made, excesses } = traffic({ requestsPerMinute: 2 });
  const receive = watched(made);
  for (const message of [question, notice, answer, question, notice, answer]) receive(message);
  expect(excesses).toEqual([]);
  receive(question);
  expect(excesses).toEqual(['It sent more than 2 requests in a minute.']);
});

test('after a minute, the count begins again', () => {
  vi.advanceTimersByTime(100_000);
  const { traffic: made, excesses } = traffic({ messagesPerMinute: 2 });
  const receive = watched(made);
  for (let minute = 0; minute < 3; minute += 1) {
    receive(notice);
    receive(notice);
    expect(excesses).toEqual([]);
    vi.advanceTimersByTime(60_001);
  }
  receive(notice);
  vi.advanceTimersByTime(60_000);
  receive(notice);
  receive(notice);
  expect(excesses).toHaveLength(1);
});

test('a request keeps its method, headers and body, and does not follow redirects by itself', async () => {
  const { traffic: made, asked } = traffic();
  const init = { method: 'POST', headers: { key: 'secret' }, body: '{}' };
  const response = await made.fetch(address, init);
  expect(await response.text()).toBe('Hi');
  expect(asked).toEqual([[address, { ...init, redirect: 'manual' }]]);
});

test('an answer’s status and headers do not change', async () => {
  const headers = { 'x-session': 'one' };
  const { traffic: made } = traffic({}, [
    new Response('No.', { status: 404, statusText: 'Not there', headers }),
    new Response(null, { status: 202 }),
  ]);
  const response = await made.fetch(address);
  expect([response.status, response.statusText]).toEqual([404, 'Not there']);
  expect(response.headers.get('x-session')).toBe('one');
  expect((await made.fetch(address, { method: 'POST' })).status).toBe(202);
});

test('more event streams in a minute than the limit count as an excess; calls do not count', async () => {
  const { traffic: made, excesses, asked } = traffic({ streamsPerMinute: 2 });
  for (const method of ['GET', 'POST', 'POST', undefined, 'POST']) {
    await (await made.fetch(address, method === undefined ? undefined : { method })).text();
  }
  expect(excesses).toEqual([]);
  await expect(made.fetch(address, { method: 'GET' })).rejects.toBeInstanceOf(McpExcess);
  expect(excesses).toEqual(['It ended more than 2 streams in a minute.']);
  expect(asked).toHaveLength(5);
});

const post = { method: 'POST' };

test('more requests without a complete answer than the limit count as an excess', async () => {
  const { traffic: made, excesses, asked } = traffic({ openRequests: 2 });
  await made.fetch(address, post);
  await made.fetch(address, post);
  await expect(made.fetch(address, post)).rejects.toBe(made.excess);
  await expect(made.fetch(address, post)).rejects.toThrow(McpExcess);
  expect(excesses).toEqual(['It left 2 requests without a complete answer.']);
  expect(asked).toHaveLength(2);
});

test.each<[string, Response | Error, (response: Response) => Promise<unknown>]>([
  ['is read to its end', new Response('Hi'), async (response) => response.text()],
  ['is cancelled', new Response('Hi'), async (response) => response.body?.cancel()],
  ['has no body', new Response(null, { status: 202 }), async () => {}],
  ['did not come', new Error('The server is away.'), async () => {}],
  [
    'breaks off',
    new Response(new ReadableStream({ pull: (controller) => controller.error(new Error('Off.')) })),
    async (response) => response.text().catch(() => {}),
  ],
])('a request whose answer %s is no longer open', async (_, given, use) => {
  const { traffic: made, excesses } = traffic({ openRequests: 1 }, [given]);
  await made.fetch(address, post).then(use, () => {});
  const next = await made.fetch(address, post);
  expect(excesses).toEqual([]);
  // The first request was released only once: the next one is still open, so a further request exceeds the limit.
  await expect(made.fetch(address, post)).rejects.toThrow(McpExcess);
  await next.text();
});

test.each([
  ['application/json', 'a'.repeat(2 * mib + 1)],
  ['text/event-stream', `data: ${'a'.repeat(2 * mib)}`],
])(
  'a message of more bytes than the limit counts as an excess, also with the content type %s',
  async (type, text) => {
    const given = new Response(text, { headers: { 'content-type': type } });
    const { traffic: made, excesses } = traffic({ messageSize: 2 * mib }, [given]);
    const response = await made.fetch(address, post);
    await expect(response.text()).rejects.toThrow('It sent more than 2 MiB in one message.');
    expect(excesses).toEqual(['It sent more than 2 MiB in one message.']);
  },
);

test('a stream of events may be longer than the limit for one message', async () => {
  const event = `data: ${'a'.repeat(mib)}\n\n`;
  const events = new Blob([event, event, event]).stream();
  const headers = { 'content-type': 'Text/Event-Stream; charset=utf-8' };
  const { traffic: made, excesses } = traffic({ messageSize: 2 * mib }, [
    new Response(events, { headers }),
  ]);
  expect(await (await made.fetch(address, post)).text()).toBe(event.repeat(3));
  expect(excesses).toEqual([]);
});

const redirect = (location: string, status = 307) =>
  new Response('moved', { status, headers: { location } });

test.each([301, 302, 303, 307, 308])(
  'a redirect with the status %i on the same server is followed, with the whole request',
  async (status) => {
    const { traffic: made, asked } = traffic({}, [redirect('/other?a=1', status)]);
    const init = { method: 'POST', body: '{}' };
    expect(await (await made.fetch(new URL(address), init)).text()).toBe('Hi');
    expect(asked).toEqual([
      [address, { ...init, redirect: 'manual' }],
      ['https://mcp.example/other?a=1', { ...init, redirect: 'manual' }],
    ]);
  },
);

test('an answer is a redirect only if it has a redirect status and a location', async () => {
  const { traffic: made } = traffic({}, [
    new Response(null, { status: 304, headers: { location: '/other' } }),
    new Response(null, { status: 302 }),
  ]);
  expect((await made.fetch(address, post)).status).toBe(304);
  expect((await made.fetch(address, post)).status).toBe(302);
});

test('SAFE: a redirect to another server, or without an address, is refused', async () => {
  const { traffic: made, asked } = traffic({}, [
    redirect('https://other.example/mcp'),
    redirect('http://['),
  ]);
  await expect(made.fetch(address, post)).rejects.toThrow(
    'It redirects to https://other.example, which is another server. If that is right, set it as the address ("url").',
  );
  await expect(made.fetch(address, post)).rejects.toThrow('It redirects to an invalid address.');
  expect(asked).toHaveLength(2);
});

test('up to twenty redirects are followed', async () => {
  const chain = (count: number) => Array.from({ length: count }, () => redirect('/again'));
  const first = traffic({}, chain(20));
  expect(await (await first.traffic.fetch(address, post)).text()).toBe('Hi');
  vi.restoreAllMocks();
  const second = traffic({}, chain(21));
  await expect(second.traffic.fetch(address, post)).rejects.toThrow(
    'It redirects more than 20 times.',
  );
  expect(second.asked).toHaveLength(21);
});

test.each([
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  [Object.assign(new Error('connect'), { code: 7 }), 'connect'],
  [new Error('no route'), 'no route'],
])(
  'the error about a server that cannot be reached names the server and the reason: %s',
  async (cause, why) => {
    const { traffic: made } = traffic({}, [new TypeError('fetch failed', { cause })]);
    const asking = made.fetch(`${address}?key=secret`, post);
    await expect(asking).rejects.toThrow(`https://mcp.example could not be reached (${why}).`);
    await expect(asking).rejects.toMatchObject({ cause });
  },
);

test('an error without a cause does not change', async () => {
  const [plain, without] = [new Error('aborted'), new TypeError('no cause')];
  const { traffic: made } = traffic({}, [plain, without]);
  await expect(made.fetch(address, post)).rejects.toBe(plain);
  await expect(made.fetch(address, post)).rejects.toBe(without);
});
