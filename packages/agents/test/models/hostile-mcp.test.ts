/** Tests MCP servers that send endless data, or no data at all. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { McpServers } from '@liminal/protocol';
import { greeter } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { FairSemaphore } from '../../src/base/fair-semaphore.ts';
import type { McpLimits } from '../../src/own/loop/mcp-traffic.ts';
import { McpTools } from '../../src/own/loop/mcp-tools.ts';
import { endless, endlessPacked, events, growth, json, mostGrowth, serve } from './hostile-http.ts';

interface Asked {
  id?: number;
  method?: string;
  params?: { cursor?: string; _meta?: { progressToken?: number } };
}

/** Handles a request; `message` is undefined for a request without a body. */
type Answer = (
  response: ServerResponse,
  message: Asked | undefined,
  request: IncomingMessage,
) => void;

const result = (id: number | undefined, value: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: value });

const greeting = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'hostile', version: '1' },
};
const tool = { name: 'work', inputSchema: { type: 'object' } };

/** The answers of a server without faults. */
const honest: Answer = (response, message) => {
  if (message?.method === 'initialize') {
    response.writeHead(200, json).end(result(message.id, greeting));
  } else if (message?.method === 'tools/list') {
    response.writeHead(200, json).end(result(message.id, { tools: [tool] }));
  } else if (message?.id !== undefined) {
    response.writeHead(200, json).end(result(message.id, { content: [] }));
  } else response.writeHead(message === undefined ? 405 : 202).end();
};

/** Returns the honest server's answers with another answer to one method. */
const but =
  (method: string | undefined, answer: Answer): Answer =>
  (response, message, request) =>
    (message?.method === method ? answer : honest)(response, message, request);

const silent: Answer = () => undefined;

async function serveMcp(answer: Answer) {
  return serve((request, response) => {
    const said = request.method === 'POST' ? text(request) : Promise.resolve('');
    said
      .then((body) =>
        answer(response, body === '' ? undefined : (JSON.parse(body) as Asked), request),
      )
      .catch(() => undefined);
  });
}

function open(servers: McpServers, limits: Partial<McpLimits> = {}) {
  const problems = new Map<string, string | undefined>();
  const mcp = new McpTools(servers, {
    projectDir: process.cwd(),
    hiddenVariables: [],
    starts: new FairSemaphore({ each: 8, total: 8 }),
    onProblem: (server, problem) => void problems.set(server, problem),
    limits,
  });
  onTestFinished(() => mcp.close());
  return { mcp, problem: () => problems.get('bad') };
}

async function openHttp(answer: Answer, limits: Partial<McpLimits> = {}) {
  const { url, requests } = await serveMcp(answer);
  const servers: McpServers = { bad: { type: 'http', url, headers: {} }, hello: greeter() };
  return { ...open(servers, limits), requests };
}

const names = async (mcp: McpTools): Promise<string[]> =>
  (await mcp.tools()).map(({ name }) => name);

const tooMuch = 'The MCP server “bad” did not start. It sent more than 10 MiB in one message.';

const bomb = endlessPacked(json, '[');

const tooLarge: [string, string | undefined, Answer][] = ['initialize', 'tools/list'].flatMap(
  (method): [string, string, Answer][] => [
    ['JSON', method, endless(json, '{"jsonrpc":"2.0","result":{"x":"', 'x')],
    ['line of an event', method, endless(events, 'data: ', 'x')],
    ['event', method, endless(events, '', 'data: x\n')],
    ['event with CR LF line ends', method, endless(events, '', 'data: x\r\n')],
    ['comment', method, endless(events, '', ': x\n')],
    ['error', method, endless(json, '', 'x', 500)],
    ['packed answer', method, bomb],
  ],
);

test.each(tooLarge)(
  'an endless %s in answer to %s is read only up to a limit, and other servers’ tools are available',
  async (_what, method, answer) => {
    const { mcp, problem } = await openHttp(but(method, answer));
    const grown = await growth(async () => expect(await names(mcp)).toContain('mcp__hello__greet'));
    expect(problem()).toContain(tooMuch);
    expect(grown).toBeLessThan(mostGrowth);
  },
);

test('an endless event on the server’s own stream ends the connection, and the next message connects again', async () => {
  const { mcp, problem, requests } = await openHttp(but(undefined, endless(events, 'data: ', 'x')));
  expect(await names(mcp)).toContain('mcp__bad__work');
  await expect
    .poll(problem, { timeout: 15_000 })
    .toBe('The MCP server “bad” was disconnected. It sent more than 10 MiB in one message.');
  const before = requests();
  expect(await names(mcp)).toContain('mcp__bad__work');
  expect(requests()).toBeGreaterThan(before);
});

test.each<[string, Answer]>([
  ['to the greeting', but('initialize', silent)],
  ['to its list of tools', but('tools/list', silent)],
  ['to a notification', but('notifications/initialized', silent)],
  [
    'after its headers',
    but('initialize', (response) => response.writeHead(200, json).flushHeaders()),
  ],
])(
  'a server that does not answer %s is abandoned, and delays no message',
  async (_what, answer) => {
    const { mcp, problem } = await openHttp(answer, { startMs: 2_000 });
    expect(await names(mcp)).toContain('mcp__hello__greet');
    expect(problem()).toBe(
      'The MCP server “bad” did not start. It did not answer, or did not list all its tools, within 2 s.',
    );
  },
);

const pageAfter =
  (tools: object[]): Answer =>
  (response, message) => {
    const nextCursor = `${Number(message?.params?.cursor ?? 0) + 1}`;
    response.writeHead(200, json).end(result(message?.id, { tools, nextCursor }));
  };

test('an endless list of tools is abandoned', async () => {
  const { mcp, problem, requests } = await openHttp(but('tools/list', pageAfter([])));
  expect(await names(mcp)).toContain('mcp__hello__greet');
  expect(problem()).toBe(
    'The MCP server “bad” did not start. Its list of tools has more than 50 pages.',
  );
  expect(requests()).toBeLessThan(60);
});

test('the list of tools is abandoned if its pages arrive too slowly', async () => {
  const slowly: Answer = (response, message, request) => {
    setTimeout(() => pageAfter([])(response, message, request), 200);
  };
  const { mcp, problem } = await openHttp(but('tools/list', slowly), { startMs: 2_000 });
  expect(await names(mcp)).toContain('mcp__hello__greet');
  expect(problem()).toMatch(/did not answer, or did not list all its tools, within 2 s\.$/);
});

test('too many tools, and tools that are too large, are left out, and their number is reported', async () => {
  let deep: object = {};
  for (let level = 0; level < 1_000; level += 1) deep = { properties: { x: deep } };
  const tools = [
    { ...tool, name: 'long', description: 'x'.repeat(200_000) },
    { ...tool, name: 'deep', inputSchema: { type: 'object', properties: { x: deep } } },
    ...Array.from({ length: 300 }, (_, at) => ({ ...tool, name: `tool-${at}` })),
  ];
  const { mcp, problem } = await openHttp(but('tools/list', pageAfter(tools)));
  const listed = (await names(mcp)).filter((name) => name.startsWith('mcp__bad__'));
  expect(listed).toHaveLength(200);
  expect(listed[0]).toBe('mcp__bad__tool-0');
  expect(problem()).toContain('“bad” lists 302 tools, of which 200 are used');

  const large = { ...tool, description: 'x'.repeat(100_000) };
  const fifty = Array.from({ length: 50 }, (_, at) => ({ ...large, name: `large-${at}` }));
  const all = await openHttp(but('tools/list', pageAfter(fifty)));
  expect((await names(all.mcp)).filter((name) => name.startsWith('mcp__bad__'))).toHaveLength(10);
});

test.each(['http', 'sse'] as const)(
  'SAFE: a redirect to another server is rejected, and nothing is sent to that server (%s)',
  async (type) => {
    const other = await serve((_request, response) => response.end('{}'));
    const { url } = await serveMcp((response) =>
      response.writeHead(307, { location: `${other.url}/internal` }).end(),
    );
    const { mcp, problem } = open({ bad: { type, url, headers: { 'x-key': 'secret' } } });
    expect(await names(mcp)).toEqual([]);
    expect(problem()).toContain(`It redirects to ${other.url}, which is another server.`);
    expect(other.requests()).toBe(0);
  },
);

test('a redirect on the same server is followed, with the whole request', async () => {
  const { mcp } = await openHttp((response, message, request) => {
    if (request.url === '/here') honest(response, message, request);
    else response.writeHead(308, { location: '/here' }).end();
  });
  expect(await names(mcp)).toContain('mcp__bad__work');
});

test('endless redirects are abandoned', async () => {
  const { mcp, problem, requests } = await openHttp((response) =>
    response.writeHead(307, { location: '/on' }).end(),
  );
  expect(await names(mcp)).not.toContain('mcp__bad__work');
  expect(problem()).toContain('It redirects more than 20 times.');
  expect(requests()).toBe(21);
});

const never = new AbortController().signal;

async function callOf(answer: Answer, limits: Partial<McpLimits> = {}) {
  const { mcp } = await openHttp(but('tools/call', answer), limits);
  const found = (await mcp.tools()).find(({ name }) => name === 'mcp__bad__work');
  if (found === undefined) throw new Error('There is no such tool.');
  const printed: string[] = [];
  return found.run(
    {},
    { projectDir: '/', files: undefined, signal: never, print: (said) => void printed.push(said) },
  );
}

test.each<[string, Answer]>([
  ['answer', endless(json, '{"jsonrpc":"2.0","result":{"x":"', 'x')],
  ['event', endless(events, 'data: ', 'x')],
  ['packed answer', bomb],
])('an endless %s to a call is read up to a bound', async (_what, answer) => {
  const grown = await growth(async () =>
    expect(callOf(answer)).rejects.toThrow('bad could not run the tool. It sent more than 10 MiB'),
  );
  expect(grown).toBeLessThan(mostGrowth);
});

test('reports of progress cannot extend a call without limit', async () => {
  const busy: Answer = (response, message) => {
    response.writeHead(200, events);
    const progressToken = message?.params?._meta?.progressToken;
    const params = { progressToken, progress: 1 };
    const notice = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params });
    const saying = setInterval(() => response.write(`data: ${notice}\n\n`), 50);
    response.on('close', () => clearInterval(saying));
  };
  await expect(callOf(busy, { callMs: 10_000, callTotalMs: 500 })).rejects.toThrow(
    'bad could not run the tool. MCP error -32001: Maximum total timeout exceeded',
  );
});

test.each<[string, object]>([
  ['notices', { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info' } }],
  ['questions', { jsonrpc: '2.0', id: 1, method: 'ping' }],
])('a flood of %s ends the call', async (_what, message) => {
  const answer = endless(events, '', `data: ${JSON.stringify(message)}\n\n`);
  await expect(callOf(answer)).rejects.toThrow(
    /It (sent|asked) more than \d+ .*in a minute\.|It left 100 requests/,
  );
});

test('the number of answers that are not complete is limited', async () => {
  const { mcp } = await openHttp(
    but('tools/call', (response, message) => {
      response.writeHead(200, events).write(`data: ${result(message?.id, { content: [] })}\n\n`);
    }),
    { openRequests: 5 },
  );
  const found = (await mcp.tools()).find(({ name }) => name === 'mcp__bad__work');
  const context = { projectDir: '/', files: undefined, signal: never, print: () => undefined };
  const calls = await Promise.allSettled(
    Array.from({ length: 10 }, async () => found?.run({}, context)),
  );
  expect(calls.map(({ status }) => status)).toContain('rejected');
  expect(calls.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toContain(
    'Error: bad could not run the tool. It left 5 requests without a complete answer.',
  );
});

test('a stream that ends again and again is not reopened without limit', async () => {
  const { mcp, problem, requests } = await openHttp(
    but(
      undefined,
      (response) => void response.writeHead(200, events).end('retry: 0\nid: 1\ndata:\n\n'),
    ),
  );
  await names(mcp);
  await expect.poll(problem, { timeout: 15_000 }).toContain('more than 120 streams in a minute');
  const before = requests();
  expect(before).toBeLessThan(150);
});

test('a result schema is not applied, because its pattern may never finish', async () => {
  const outputSchema = {
    type: 'object',
    properties: { x: { type: 'string', pattern: '^(a+)+$' } },
  };
  const answer: Answer = (response, message, request) => {
    const structuredContent = { x: `${'a'.repeat(100)}!` };
    const values: Record<string, object> = {
      'tools/list': { tools: [{ ...tool, outputSchema }] },
      'tools/call': { content: [], structuredContent },
    };
    const value = values[message?.method ?? ''];
    if (value === undefined) honest(response, message, request);
    else response.writeHead(200, json).end(result(message?.id, value));
  };
  const { mcp } = await openHttp(answer);
  const found = (await mcp.tools()).find(({ name }) => name === 'mcp__bad__work');
  const context = { projectDir: '/', files: undefined, signal: never, print: () => undefined };
  expect(await found?.run({}, context)).toMatchObject({ success: true });
});

test.each<[string, Answer, string]>([
  ['says nothing', silent, 'did not answer'],
  ['names no endpoint', (response) => response.writeHead(200, events).flushHeaders(), 'within'],
  ['sends an endless line', endless(events, 'data: ', 'x'), 'more than 10 MiB in one message'],
  ['sends endless comments', endless(events, '', ': x\n'), 'more than 10 MiB in one message'],
  ['ends each stream', (response) => response.writeHead(200, events).end('retry: 0\n\n'), ''],
])('a server of the older transport that %s is abandoned', async (_what, answer, why) => {
  const { url } = await serveMcp(answer);
  const servers: McpServers = { bad: { type: 'sse', url, headers: {} }, hello: greeter() };
  const { mcp, problem } = open(servers, why.includes('MiB') ? {} : { startMs: 2_000 });
  const grown = await growth(async () => expect(await names(mcp)).toContain('mcp__hello__greet'));
  expect(problem()).toContain('The MCP server “bad” did not start. ');
  expect(problem()).toContain(why);
  expect(grown).toBeLessThan(mostGrowth);
});

test.each([
  ['an endless line', 'x', 'did not start.'],
  [
    'endless notices',
    '{"jsonrpc":"2.0","method":"notifications/message","params":{}}\\n',
    'It sent',
  ],
  ['endless questions', '{"jsonrpc":"2.0","id":1,"method":"ping"}\\n', 'requests in a minute'],
])('a program that prints %s is ended', async (_what, piece, why) => {
  const code = `const block = '${piece}'.repeat(1_000); const more = () => process.stdout.write(block, more); more();`;
  const bad = { type: 'stdio' as const, command: process.execPath, args: ['-e', code], env: {} };
  const { mcp, problem } = open({ bad, hello: greeter() }, { startMs: 10_000 });
  const grown = await growth(async () => expect(await names(mcp)).toContain('mcp__hello__greet'));
  expect(problem()).toContain(why);
  expect(grown).toBeLessThan(mostGrowth);
});
