import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { maxDepth, type McpServer, sizeOf } from '@liminal/protocol';
import { afterEach, expect, test } from 'vitest';
import { FairSemaphore } from '../../base/fair-semaphore.ts';
import { type Tool, ToolError } from '../tools/index.ts';
import { McpConnection } from './mcp-connection.ts';
import type { McpLimits } from './mcp-traffic.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Asked {
  id?: number;
  method: string;
  params?: {
    cursor?: string;
    name?: string;
    arguments?: Record<string, unknown>;
    clientInfo?: { name: string; version: string };
    _meta?: { progressToken?: number };
  };
}

/** Returns the result of a request, or writes the response itself and returns undefined. */
type Answer = (
  asked: Asked,
  response: ServerResponse,
) => object | undefined | Promise<object | undefined>;

const greeting: Answer = () => ({
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '1' },
});
const tool = { name: 'work', inputSchema: { type: 'object' as const } };

interface Scripted {
  url: string;
  /** The methods of all requests, in order. */
  methods: string[];
  headers: IncomingMessage['headers'][];
}

/** An MCP server with these answers, by method. */
async function serve(answers: Record<string, Answer>): Promise<Scripted> {
  const all: Record<string, Answer> = {
    initialize: greeting,
    'tools/list': () => ({ tools: [tool] }),
    ...answers,
  };
  const [methods, headers]: [string[], IncomingMessage['headers'][]] = [[], []];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const asked = (await json(request)) as Asked;
    methods.push(asked.method);
    headers.push(request.headers);
    const answer = all[asked.method];
    if (asked.id === undefined && !answer) return void response.writeHead(202).end();
    const result = await answer?.(asked, response);
    if (result === undefined) return;
    const outcome = 'code' in result ? { error: result } : { result };
    const body = JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...outcome });
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  };
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, methods, headers };
}

function connect(server: McpServer, limits: Partial<McpLimits> = {}, name = 'desk') {
  const problems: (string | undefined)[] = [];
  const connection = new McpConnection(name, server, {
    projectDir: process.cwd(),
    hiddenVariables: ['HIDDEN_KEY'],
    starts: new FairSemaphore({ each: 1, total: 1 }),
    onProblem: (from, problem) => {
      expect(from).toBe(name);
      problems.push(problem);
    },
    limits,
  });
  ends.push(() => connection.close());
  return { connection, problems };
}

async function open(
  answers: Record<string, Answer> = {},
  limits: Partial<McpLimits> = {},
  name = 'desk',
) {
  const server = await serve(answers);
  const http = { type: 'http' as const, url: server.url, headers: { 'x-key': 'secret' } };
  return { ...server, ...connect(http, limits, name) };
}

const namesOf = (tools: readonly Tool[]): string[] => tools.map(({ name }) => name);

/** Calls a tool; returns the result and the printed texts. */
async function run(
  one: Tool | undefined,
  input: object = {},
  signal = new AbortController().signal,
) {
  if (one === undefined) throw new Error('There is no such tool.');
  const printed: string[] = [];
  const print = (text: string): void => void printed.push(text);
  const result = await one.run(input, { projectDir: process.cwd(), signal, print });
  return { result, printed };
}

/** The result of a call whose server returns this. */
async function resultOf(returned: object) {
  const { connection } = await open({ 'tools/call': () => returned });
  return (await run((await connection.tools())[0])).result;
}

test('Liminal initializes a server and requests its tools once, with the configured headers', async () => {
  const { connection, methods, headers, problems } = await open();
  const [first, second] = await Promise.all([connection.tools(), connection.tools()]);
  expect(namesOf(first)).toEqual(['mcp__desk__work']);
  expect(second).toBe(first);
  expect(await connection.tools()).toBe(first);
  expect(methods).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
  expect(headers.map((one) => one['x-key'])).toEqual(['secret', 'secret', 'secret']);
  expect(problems).toEqual([undefined]);
});

test('a server gets the name and version of Liminal', async () => {
  const infos: unknown[] = [];
  const { connection } = await open({
    initialize: (asked, response) => {
      infos.push(asked.params?.clientInfo);
      return greeting(asked, response);
    },
  });
  await connection.tools();
  expect(infos).toEqual([{ name: 'liminal', version: expect.stringMatching(/^\d+\.\d+\.\d+/) }]);
});

test('the pages of a list of tools are read one after another', async () => {
  const cursors: (string | undefined)[] = [];
  const pages: Record<string, object> = {
    '': { tools: [{ ...tool, name: 'a' }], nextCursor: 'x' },
    x: { tools: [{ ...tool, name: 'b' }], nextCursor: 'y' },
    y: { tools: [{ ...tool, name: 'c' }] },
  };
  const { connection, problems } = await open(
    {
      'tools/list': ({ params }) => {
        cursors.push(params?.cursor);
        return pages[params?.cursor ?? ''];
      },
    },
    { pages: 3 },
  );
  expect(namesOf(await connection.tools())).toEqual([
    'mcp__desk__a',
    'mcp__desk__b',
    'mcp__desk__c',
  ]);
  expect(cursors).toEqual([undefined, 'x', 'y']);
  expect(problems).toEqual([undefined]);
});

test('a list with too many pages counts as a failed start, and the next request for tools connects again', async () => {
  let count = 0;
  const { connection, problems, methods } = await open(
    { 'tools/list': () => ({ tools: [], nextCursor: `${(count += 1)}` }) },
    { pages: 3 },
  );
  expect(await connection.tools()).toEqual([]);
  expect(count).toBe(3);
  const problem = 'The MCP server “desk” did not start. Its list of tools has more than 3 pages.';
  expect(problems).toEqual([problem]);
  expect(await connection.tools()).toEqual([]);
  expect(problems).toEqual([problem, problem]);
  expect(methods.filter((method) => method === 'initialize')).toHaveLength(2);
});

/** A tool of this size. */
function sized(name: string, size: number): object {
  const rest = sizeOf({ ...tool, name, description: '' }, Infinity);
  return { ...tool, name, description: 'x'.repeat(size - rest) };
}

/** A tool whose JSON has this many levels. */
function nested(name: string, levels: number): object {
  let properties: object = {};
  for (let level = 3; level < levels; level += 1) properties = { x: properties };
  return { name, inputSchema: { type: 'object', properties } };
}

const KiB = 1024;

test.each<[string, object[], Partial<McpLimits>, string[]]>([
  ['as many tools as allowed', [tool, { ...tool, name: 'b' }], { tools: 2 }, ['work', 'b']],
  ['a tool of the largest size', [sized('a', KiB)], { toolSize: KiB }, ['a']],
  [
    'tools that have the largest size together',
    [sized('a', KiB), sized('b', KiB)],
    { toolsSize: 2 * KiB },
    ['a', 'b'],
  ],
  ['a tool with the most levels', [nested('a', maxDepth)], {}, ['a']],
])('%s: the tools are used without a notice', async (_, tools, limits, used) => {
  const { connection, problems } = await open({ 'tools/list': () => ({ tools }) }, limits);
  expect(namesOf(await connection.tools())).toEqual(used.map((name) => `mcp__desk__${name}`));
  expect(problems).toEqual([undefined]);
});

test.each<[string, object[], Partial<McpLimits>, string[]]>([
  [
    'more tools than allowed',
    [tool, { ...tool, name: 'b' }, { ...tool, name: 'c' }],
    { tools: 2 },
    ['work', 'b'],
  ],
  ['a tool that is too large', [sized('a', KiB + 1), tool], { toolSize: KiB }, ['work']],
  [
    'tools that are too large together',
    [sized('a', KiB), sized('b', KiB + 1), sized('c', 100)],
    { toolsSize: 2 * KiB },
    ['a', 'c'],
  ],
  ['a tool with too many levels', [nested('a', maxDepth + 1), tool], {}, ['work']],
])('%s: some are left out, and a notice gives the numbers', async (_, tools, limits, used) => {
  const { connection, problems } = await open({ 'tools/list': () => ({ tools }) }, limits);
  expect(namesOf(await connection.tools())).toEqual(used.map((name) => `mcp__desk__${name}`));
  const { tools: most = 200, toolSize = 128 * KiB, toolsSize = 1024 * KiB } = limits;
  expect(problems).toEqual([
    undefined,
    `The MCP server “desk” lists ${tools.length} tools, of which ${used.length} are used: at most ${most}, each with at most ${toolSize / KiB} KiB and ${maxDepth} levels of JSON, and all together with ${toolsSize / KiB} KiB.`,
  ]);
});

test('no further page is read once the most tools are found', async () => {
  let count = 0;
  const { connection } = await open(
    { 'tools/list': () => ({ tools: [{ ...tool, name: `a${(count += 1)}` }], nextCursor: 'x' }) },
    { tools: 2 },
  );
  expect(await connection.tools()).toHaveLength(2);
  expect(count).toBe(2);
});

test('a server that does not answer in time counts as a failed start, and the notice contains the time', async () => {
  const { connection, problems } = await open({ 'tools/list': () => undefined }, { startMs: 500 });
  expect(await connection.tools()).toEqual([]);
  expect(problems).toEqual([
    'The MCP server “desk” did not start. It did not answer, or did not list all its tools, within 0.5 s.',
  ]);
});

test('a server that never confirms a notification counts as a failed start', async () => {
  const silent = { 'notifications/initialized': () => undefined };
  const { connection, problems } = await open(silent, { startMs: 500 });
  expect(await connection.tools()).toEqual([]);
  expect(problems[0]).toMatch(/did not start\. It did not answer, .* within 0\.5 s\.$/);
});

test('a server’s error at the start is shown, up to a limit', async () => {
  const message = `No desk here. ${'x'.repeat(3_000)}`;
  const { connection, problems } = await open({
    'tools/list': () => ({ code: -32_000, message }),
  });
  expect(await connection.tools()).toEqual([]);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(
    /^The MCP server “desk” did not start\. MCP error -32000: No desk here\. x{1900}/,
  );
  expect(problems[0]?.length).toBeLessThan(2_100);
});

test('a server that exceeds a limit at its start has failed to start, with the limit as the reason', async () => {
  const { connection, problems } = await open(
    { 'tools/list': () => ({ tools: [sized('a', 3 * KiB * KiB)] }) },
    { messageSize: KiB * KiB },
  );
  expect(await connection.tools()).toEqual([]);
  expect(problems).toEqual([
    'The MCP server “desk” did not start. It sent more than 1 MiB in one message.',
  ]);
});

test('a server that exceeds a limit during a call is disconnected, and the next request for tools connects again', async () => {
  const { connection, problems, methods } = await open(
    { 'tools/call': () => ({ content: [{ type: 'text', text: 'x'.repeat(3 * KiB * KiB) }] }) },
    { messageSize: KiB * KiB },
  );
  const excess = 'It sent more than 1 MiB in one message.';
  const [work] = await connection.tools();
  const failed = run(work);
  await expect(failed).rejects.toBeInstanceOf(ToolError);
  await expect(failed).rejects.toThrow(`desk could not run the tool. ${excess}`);
  expect(problems).toEqual([undefined, `The MCP server “desk” was disconnected. ${excess}`]);
  expect(namesOf(await connection.tools())).toEqual(['mcp__desk__work']);
  expect(methods.filter((method) => method === 'initialize')).toHaveLength(2);
  expect(problems.at(-1)).toBeUndefined();
});

test('a closed connection has no tools, asks its server for nothing, and reports no problem', async () => {
  const unused = await open();
  await unused.connection.close();
  expect(await unused.connection.tools()).toEqual([]);
  expect(unused.methods).toEqual([]);

  const listing = Promise.withResolvers<void>();
  const { connection, problems } = await open({
    'tools/list': () => {
      listing.resolve();
      return undefined;
    },
  });
  const tools = connection.tools();
  await listing.promise;
  await connection.close();
  expect(await tools).toEqual([]);
  expect(await connection.tools()).toEqual([]);
  expect(problems).toEqual([]);
});

test('a call that runs when the connection is closed fails', async () => {
  const called = Promise.withResolvers<void>();
  const { connection } = await open({
    'tools/call': () => {
      called.resolve();
      return undefined;
    },
  });
  const [work] = await connection.tools();
  const failed = run(work).catch((error: unknown) => error);
  await called.promise;
  await connection.close();
  expect(String(await failed)).toMatch(/desk could not run the tool\. .*Connection closed/);
});

test('a call is sent with the tool’s own name and the model’s input, and its progress is printed', async () => {
  const calls: Asked['params'][] = [];
  const { connection } = await open({
    'tools/call': ({ id, params }, response) => {
      calls.push(params);
      const progressToken = params?._meta?.progressToken;
      const says = (message: object): string =>
        `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
      const progress = (more: object): string =>
        says({ method: 'notifications/progress', params: { progressToken, ...more } });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(progress({ progress: 1, message: 'Half' }) + progress({ progress: 2 }));
      response.end(says({ id, result: { content: [{ type: 'text', text: 'Done.' }] } }));
      return undefined;
    },
  });
  const [work] = await connection.tools();
  expect(await run(work, { of: 'art', list: [1] })).toEqual({
    result: { output: 'Done.', success: true },
    printed: ['Half\n'],
  });
  expect(calls).toMatchObject([{ name: 'work', arguments: { of: 'art', list: [1] } }]);
});

test('a call that is stopped ends at once, and the server gets a cancellation', async () => {
  const called = Promise.withResolvers<void>();
  const { connection, methods } = await open({
    'tools/call': () => {
      called.resolve();
      return undefined;
    },
  });
  const stopping = new AbortController();
  const [work] = await connection.tools();
  const failed = run(work, {}, stopping.signal).catch((error: unknown) => error);
  await called.promise;
  stopping.abort();
  expect(await failed).toBeInstanceOf(ToolError);
  await expect.poll(() => methods).toContain('notifications/cancelled');
});

test('a call ends after its time limit', async () => {
  const { connection } = await open({ 'tools/call': () => undefined }, { callMs: 50 });
  await expect(run((await connection.tools())[0])).rejects.toThrow(
    'desk could not run the tool. MCP error -32001: Request timed out',
  );
});

test('a tool is shown with its own name first, then the server’s title for the tool', async () => {
  const tools = [
    { ...tool, name: 'plain' },
    { ...tool, name: 'same', title: 'same' },
    { ...tool, name: 'titled', title: 'Works', annotations: { title: 'Ignored' } },
    { ...tool, name: 'annotated', annotations: { title: 'Annotated' } },
  ];
  const { connection } = await open({ 'tools/list': () => ({ tools }) });
  const found = await connection.tools();
  const shown = await Promise.all(found.map(async (one) => one.describe({}, { projectDir: '/' })));
  expect(shown).toEqual([
    { title: 'plain (desk)' },
    { title: 'same (desk)' },
    { title: 'titled (desk): Works' },
    { title: 'annotated (desk): Annotated' },
  ]);
});

test('the model gets a tool’s description and schema, and any object is a valid input', async () => {
  const inputSchema = { type: 'object' as const, properties: { of: { type: 'string' } } };
  const tools = [
    { ...tool, description: 'Works.', inputSchema },
    { ...tool, name: 'other' },
  ];
  const { connection } = await open({ 'tools/list': () => ({ tools }) });
  const found = await connection.tools();
  expect(found).toMatchObject([
    { description: 'Works.', kind: 'other', parameters: inputSchema },
    { description: '', kind: 'other', parameters: tool.inputSchema },
  ]);
  expect(found[0]?.input.safeParse({ any: [1] }).success).toBe(true);
  expect(found[0]?.input.safeParse('text').success).toBe(false);
});

test('SAFE: only a tool that changes nothing, and reaches nothing outside, needs no permission', async () => {
  const hints = [
    { readOnlyHint: true, openWorldHint: false },
    { readOnlyHint: true },
    { readOnlyHint: true, openWorldHint: true },
    { readOnlyHint: false, openWorldHint: false },
    { openWorldHint: false },
  ];
  const tools = [
    tool,
    ...hints.map((annotations, at) => ({ ...tool, name: `t${at}`, annotations })),
  ];
  const { connection } = await open({ 'tools/list': () => ({ tools }) });
  const found = await connection.tools();
  const needed = await Promise.all(found.map(async (one) => one.needs({}, { projectDir: '/' })));
  expect(needed.map((one) => one === undefined)).toEqual([false, true, false, false, false, false]);
  expect(needed[0]).toEqual([
    { always: 'work of desk', rule: expect.stringMatching(/^mcp:[0-9a-f]{32}:work$/) },
  ]);
});

/** The name that the model gets for a server's tool. */
async function nameOf(server: string, name: string): Promise<string | undefined> {
  const { connection } = await open(
    { 'tools/list': () => ({ tools: [{ ...tool, name }] }) },
    {},
    server,
  );
  return (await connection.tools())[0]?.name;
}

test.each([
  ['desk', 'do-it_2', 'mcp__desk__do-it_2'],
  ['a_b', '_c', 'mcp__a_b___c'],
  ['a', 'x'.repeat(56), `mcp__a__${'x'.repeat(56)}`],
])('the name of the tool %s/%s does not change', async (server, name, expected) => {
  expect(await nameOf(server, name)).toBe(expected);
});

test.each([
  ['a__b', 'c', 'mcp__a__b__c'],
  ['a_', 'c', 'mcp__a___c'],
  ['a', 'b.c d', 'mcp__a__b_c_d'],
  ['a', '.b', 'mcp__a___b'],
  ['a', 'b.', 'mcp__a__b_'],
  ['a', 'x'.repeat(57), `mcp__a__${'x'.repeat(47)}`],
])(
  'SAFE: the name of the tool %s/%s, which another tool could have too, gets a hash',
  async (server, name, begins) => {
    const called = await nameOf(server, name);
    expect(called?.slice(0, -9)).toBe(begins);
    expect(called?.slice(-9)).toMatch(/^_[0-9a-f]{8}$/);
  },
);

test('SAFE: tools whose names differ only in other characters have different names', async () => {
  const [one, two] = await Promise.all([nameOf('a', 'b.c'), nameOf('a', 'b c')]);
  expect(one).not.toBe(two);
});

test('the model gets all texts of a result, and people get the other parts', async () => {
  const content = [
    { type: 'text', text: 'One.' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'audio', data: 'BBBB', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'https://a.example/', name: 'a' },
    { type: 'resource_link', uri: 'https://b.example/', name: 'b', title: 'B' },
    { type: 'resource', resource: { uri: 'a:1', text: 'Two.' } },
    { type: 'resource', resource: { uri: 'a:2', blob: 'CCCC', mimeType: 'application/pdf' } },
  ];
  expect(await resultOf({ content })).toStrictEqual({
    output: 'One.\nhttps://a.example/\nhttps://b.example/\nTwo.',
    success: true,
    blocks: content.slice(1),
  });
});

test('structured content is the output only if the result has no text', async () => {
  const structuredContent = { count: 2, list: ['a'] };
  const text = { type: 'text', text: 'Two.' };
  expect(await resultOf({ content: [], structuredContent })).toEqual({
    output: '{"count":2,"list":["a"]}',
    success: true,
  });
  expect(await resultOf({ content: [text], structuredContent })).toEqual({
    output: 'Two.',
    success: true,
  });
  expect(await resultOf({ content: [] })).toEqual({ output: '', success: true });
});

test('a result that is an error does not count as a success, and an error without a result is thrown as a ToolError', async () => {
  const content = [{ type: 'text', text: 'No paper.' }];
  expect(await resultOf({ content, isError: true })).toEqual({
    output: 'No paper.',
    success: false,
  });
  const failed = resultOf({ code: -32_602, message: 'No such work.' });
  await expect(failed).rejects.toBeInstanceOf(ToolError);
  await expect(failed).rejects.toThrow(
    'desk could not run the tool. MCP error -32602: No such work.',
  );
});

test('Liminal connects to a server of the older transport by a stream of events', async () => {
  const { url, methods } = await serve({});
  const { connection, problems } = connect({ type: 'sse', url, headers: {} });
  expect(await connection.tools()).toEqual([]);
  expect(problems[0]).toMatch(/^The MCP server “desk” did not start\. .*405/s);
  expect(methods).toEqual([]);
});

/** An MCP server whose only tool has the program's environment and folder as its description. */
const reporter = `
  const { HIDDEN_KEY, OWN, OTHER } = process.env;
  const description = JSON.stringify({ HIDDEN_KEY, OWN, OTHER, cwd: process.cwd() });
  const tools = [{ name: 'tell', description, inputSchema: { type: 'object' } }];
  const info = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } };
  console.error('It starts.');
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const result = method === 'initialize' ? info : { tools };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });`;

test('SAFE: a program gets its own variables and the server’s other ones, but no hidden one, and runs in the project', async () => {
  process.env['HIDDEN_KEY'] = 'secret';
  process.env['OTHER'] = 'other';
  ends.push(async () => {
    delete process.env['HIDDEN_KEY'];
    delete process.env['OTHER'];
  });
  const { connection, problems } = connect({
    type: 'stdio',
    command: 'node',
    args: ['-e', reporter],
    env: { OWN: 'own' },
  });
  const [tell] = await connection.tools();
  expect(problems).toEqual([undefined]);
  expect(JSON.parse(tell?.description ?? '')).toEqual({
    OWN: 'own',
    OTHER: 'other',
    cwd: process.cwd(),
  });
});
