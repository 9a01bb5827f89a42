import type { McpServer, McpServers } from '@liminal/protocol';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { greeter, pixel } from '@liminal/testkit';
import { afterEach, expect, test } from 'vitest';
import { FairSemaphore } from '../../src/base/fair-semaphore.ts';
import { McpTools } from '../../src/own/loop/mcp-tools.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function open(servers: McpServers) {
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-mcp-'));
  ends.push(() => rm(projectDir, { recursive: true }));
  const problems = new Map<string, string | undefined>();
  const mcp = new McpTools(servers, {
    projectDir,
    hiddenVariables: [],
    starts: new FairSemaphore({ each: 2, total: 2 }),
    onProblem: (server, problem) => void problems.set(server, problem),
  });
  ends.push(() => mcp.close());
  const printed: string[] = [];
  const { signal } = new AbortController();
  const context = { projectDir, signal, print: (text: string) => void printed.push(text) };
  const tool = async (name: string) => {
    const found = (await mcp.tools()).find((one) => one.name === name);
    if (found === undefined) throw new Error(`There is no tool ${name}.`);
    return found;
  };
  return { mcp, problems, context, tool, projectDir };
}

test('the model gets the tools of a configured MCP server, and they need a permission', async () => {
  const { tool, context, problems, projectDir } = await open({ hello: greeter('Good day') });
  const greet = await tool('mcp__hello__greet');

  expect(greet).toMatchObject({
    description: 'Greets somebody.',
    parameters: { required: ['name'] },
  });
  expect(greet.needs({}, { projectDir })).toEqual([
    { always: 'greet of hello', rule: expect.stringMatching(/^mcp:[0-9a-f]{32}:greet$/) },
  ]);
  expect(await greet.describe({}, { projectDir })).toEqual({ title: 'greet (hello)' });
  expect(await greet.run({ name: 'Ada' }, context)).toEqual({
    output: 'Good day, Ada!',
    success: true,
  });
  expect(problems.get('hello')).toBeUndefined();
});

/** Returns the rule that permanently allows a server's tool `greet`. */
async function greetRule(name: string, server: McpServer): Promise<string | undefined> {
  const { mcp, projectDir } = await open({ [name]: server });
  const greet = (await mcp.tools()).find(({ description }) => description === 'Greets somebody.');
  return (await greet?.needs({}, { projectDir }))?.[0]?.rule;
}

test('SAFE: a permission for a server’s tool does not apply to another server, even if server and tool have the same names', async () => {
  const server = greeter('Hello');
  const rule = await greetRule('hello', server);
  expect(await greetRule('hello', server)).toBe(rule);
  const others = [
    { ...server, args: [...server.args, '--other'] },
    { ...server, env: { ...server.env, NODE_OPTIONS: '--no-warnings' } },
  ];
  for (const other of others) expect(await greetRule('hello', other)).not.toBe(rule);
});

test.each([
  ['a', 'b__c', 'a__b', 'c'],
  ['a', '_b', 'a_', 'b'],
  ['a', 'b.c', 'a', 'b_c'],
  ['a', 'b c', 'a', 'b.c'],
  ['a', `${'x'.repeat(80)}1`, 'a', `${'x'.repeat(80)}2`],
])('SAFE: a model can call both the tools %s/%s and %s/%s', async (one, first, two, second) => {
  const tools = new Map<string, string[]>([[one, [first]]]);
  tools.set(two, [...(tools.get(two) ?? []), second]);
  const { mcp, projectDir } = await open(
    Object.fromEntries([...tools].map(([name, listed]) => [name, listing(listed)])),
  );
  const found = await mcp.tools();
  expect(new Set(found.map(({ name }) => name)).size).toBe(2);
  const needed = await Promise.all(found.map(async (tool) => tool.needs({}, { projectDir })));
  expect(new Set(needed.map((one) => one?.[0]?.rule)).size).toBe(2);
  for (const { name } of found) expect(name).toMatch(/^mcp__[\w-]{1,59}$/);
});

test('a tool that a server lists twice is listed once for the model', async () => {
  const { mcp } = await open({ a: listing(['work', 'work', 'rest']) });
  const names = (await mcp.tools()).map(({ name }) => name);
  expect(names).toEqual(['mcp__a__work', 'mcp__a__rest']);
});

/** An MCP server whose tools have these names. */
function listing(names: readonly string[]): McpServer {
  const program = `
    const tools = ${JSON.stringify(names)}.map((name) => ({ name, inputSchema: { type: 'object' } }));
    const info = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } };
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (id === undefined) return;
      const result = method === 'initialize' ? info : { tools };
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });`;
  return { type: 'stdio', command: process.execPath, args: ['-e', program], env: {} };
}

test('SAFE: a tool’s name is shown before the title that the server gives the tool', async () => {
  const { tool, projectDir } = await open({ hello: greeter('Hello', 'Show the notes') });
  const { title } = await (await tool('mcp__hello__greet')).describe({}, { projectDir });
  expect(title).toBe('greet (hello): Show the notes');
});

test('content other than text is shown to people, and the model gets its text form', async () => {
  const { tool, context } = await open({ hello: greeter() });
  const { output, blocks } = await (await tool('mcp__hello__show')).run({}, context);

  expect(output).toBe('A pixel, and more.\nA note.\nhttps://example.org/pixels');
  expect(blocks).toMatchObject([
    { type: 'image', data: pixel },
    { type: 'audio' },
    { type: 'resource' },
    { type: 'resource_link' },
  ]);
});

test('a server that does not start is reported as a problem, while other servers’ tools are available', async () => {
  const broken = { type: 'stdio' as const, command: '/nowhere/mcp', args: [], env: {} };
  const { mcp, problems } = await open({ broken, hello: greeter() });

  expect((await mcp.tools()).map(({ name }) => name)).toContain('mcp__hello__greet');
  expect(problems.get('broken')).toMatch(/The MCP server “broken” did not start\. .*nowhere/);
});

test('a server that has ended is started again for the next message', async () => {
  const { mcp, tool, context } = await open({ hello: greeter() });
  const greet = await tool('mcp__hello__greet');
  for (const pid of await startedHere()) process.kill(pid, 'SIGKILL');
  await expect(greet.run({ name: 'Ada' }, context)).rejects.toThrow(/hello could not run the tool/);

  const again = (await mcp.tools()).find(({ name }) => name === greet.name);
  expect(await again?.run({ name: 'Ada' }, context)).toMatchObject({ output: 'Hello, Ada!' });
  await mcp.close();
  expect(await startedHere()).toEqual([]);
});

test('a server that is silent at its start does not delay closing the session, and no server is started after closing', async () => {
  const args = ['-e', 'setInterval(() => {}, 1e9)', 'mcp-server'];
  const mute = { type: 'stdio' as const, command: process.execPath, args, env: {} };
  const { mcp, problems } = await open({ mute });
  const tools = mcp.tools();
  await expect.poll(startedHere).toHaveLength(1);

  const begun = performance.now();
  await mcp.close();
  // The MCP server's own time limit is 30 s.
  expect(performance.now() - begun).toBeLessThan(15_000);
  expect(await tools).toEqual([]);
  expect(await mcp.tools()).toEqual([]);
  expect(await startedHere()).toEqual([]);
  expect(problems.size).toBe(0);

  const unused = await open({ mute });
  await unused.mcp.close();
  expect(await unused.mcp.tools()).toEqual([]);
  expect(await startedHere()).toEqual([]);
});

/** The MCP servers that this process has started. */
async function startedHere(): Promise<number[]> {
  const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
  const pids = children.trim().split(' ').filter(Boolean).map(Number);
  const lines = await Promise.all(
    pids.map(async (pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return pids.filter((_, at) => lines[at]?.includes('mcp-server') === true);
}
