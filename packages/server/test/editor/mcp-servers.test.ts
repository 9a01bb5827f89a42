/** Tests MCP servers that an editor adds to a session, with the real agents. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { methods } from '@agentclientprotocol/sdk/unstable';
import type { AgentDriver } from '@liminal/agents';
import { AcpDriver } from '@liminal/agents/acp';
import { ClaudeDriver } from '@liminal/agents/claude-code';
import { CodexDriver } from '@liminal/agents/codex';
import { DemoDriver } from '@liminal/agents/demo';
import { createModelDrivers } from '@liminal/agents/models';
import { calls, repliesWith, ScriptedClient } from '@liminal/agents/testing';
import {
  acpAgent,
  answer,
  claudeEnvironment,
  codexEnvironment,
  functionCall,
  greeter,
  makeCodexHome,
  reply,
  startMessagesApi,
  startResponsesApi,
  toolUse,
  type Workspace,
} from '@liminal/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Editor, stage } from './editor.ts';

/** Returns an MCP server in the form in which an editor sends it. */
function named(name: string, greeting: string) {
  const { command, args } = greeter();
  return { name, command, args, env: [{ name: 'GREETING', value: greeting }] };
}

/** Returns the outputs of all tool calls, as JSON. */
const outputs = ({ updates }: Editor): string =>
  JSON.stringify(
    updates.filter((one) => one.sessionUpdate === 'tool_call_update' && one.status === 'completed'),
  );

async function claude({ home }: Workspace) {
  const calling = reply(toolUse('mcp__greeter__greet', { name: 'Ada' }));
  const api = await startMessagesApi({ script: [calling, reply('Done.')] });
  onTestFinished(() => api.close());
  const env = claudeEnvironment(home, api.url);
  vi.stubEnv('CLAUDE_CONFIG_DIR', env['CLAUDE_CONFIG_DIR']);
  onTestFinished(() => void vi.unstubAllEnvs());
  const mcpServers = { greeter: greeter('Configured') };
  return new ClaudeDriver({ env, mcpServers });
}

async function codex({ home }: Workspace) {
  const calling = answer(functionCall('greet', { name: 'Ada' }, { namespace: 'mcp__greeter' }));
  const api = await startResponsesApi({ script: [calling, answer('Done.')] });
  onTestFinished(() => api.close());
  await makeCodexHome(join(home, '.codex'), api.url);
  const inherited = codexEnvironment(home);
  await mkdir(inherited['TMPDIR'] ?? home, { recursive: true });
  return new CodexDriver({ inherited, mcpServers: { greeter: greeter('Configured') } });
}

function bareModel() {
  const client = new ScriptedClient([
    calls(['mcp__greeter__greet', { name: 'Ada' }]),
    repliesWith('Done.'),
  ]);
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
  const mcpServers = { greeter: greeter('Configured') };
  const [provider] = createModelDrivers({ servers, tools: [], mcpServers });
  return provider!;
}

test.each([
  ['Claude Code', claude],
  ['Codex', codex],
  ['a bare model', bareModel],
])(
  '%s gets the MCP server that the editor sends, instead of the configured server with the same name',
  async (_, provide) => {
    const { editor, problems } = await stage({ provide });
    const zed = await editor();
    const sessionId = await zed.create({ mcpServers: [named('greeter', 'Good morning')] });
    expect(await zed.prompt(sessionId, 'Greet Ada.')).toMatchObject({ stopReason: 'end_turn' });
    expect(outputs(zed)).toContain('Good morning, Ada!');
    expect(problems).toEqual([]);
  },
);

async function scriptedAcp(mcpCapabilities: object) {
  const agent = await acpAgent({
    initialize: { agentCapabilities: { loadSession: true, mcpCapabilities } },
    turns: [{ steps: [{ say: 'Done.' }] }],
  });
  onTestFinished(() => agent.control.close());
  const { command, args, env } = agent;
  const about = { cliType: 'scripted', name: 'Scripted', description: 'A scripted agent.' };
  const provider = new AcpDriver({ ...about, command, args, env });
  return { agent, provider };
}

test('an ACP agent gets the MCP servers each time a session is opened; when the session is closed, the servers are removed', async () => {
  const { agent, provider } = await scriptedAcp({ http: true });
  const { editor } = await stage({ provide: () => provider });
  const zed = await editor();
  const web = { name: 'web', type: 'http' as const, url: 'https://a.example/mcp', headers: [] };
  const sessionId = await zed.create({ mcpServers: [named('My Files', 'x'), web] });
  const files = { ...named('My_Files', 'x') };
  const begun = await agent.control.until('session/new');
  expect(begun.params['mcpServers']).toEqual([files, web]);
  await zed.prompt(sessionId, 'Hello.');

  await zed.agent.request(methods.agent.session.close, { sessionId });
  await zed.load(sessionId, { mcpServers: [web] });
  await zed.prompt(sessionId, 'Hello again.');
  const loaded = await agent.control.until('session/load');
  expect(loaded.params['mcpServers']).toEqual([web]);
});

test('a running agent gets changed MCP servers only at its next start, and a notice reports this', async () => {
  const { agent, provider } = await scriptedAcp({});
  const { editor, runtime, drivers } = await stage({ provide: () => provider });
  const one = await editor();
  const sessionId = await one.create({ mcpServers: [named('one', 'x')] });
  await one.prompt(sessionId, 'Hello.');
  const other = await editor({ capabilities: { session: { notices: {} } } });
  await other.load(sessionId, { mcpServers: [named('one', 'x'), named('two', 'y')] });
  const notice = await other.until((updates) =>
    updates.find((update) => update.sessionUpdate === 'notice'),
  );
  expect(notice).toMatchObject({
    severity: 'info',
    title: expect.stringContaining('were named: “two”.'),
  });

  await drivers.session(provider, sessionId).end();
  await other.prompt(sessionId, 'Hello again.');
  const loaded = await agent.control.until('session/load');
  const servers = loaded.params['mcpServers'] as { name: string }[];
  expect(servers.map(({ name }) => name)).toEqual(['one', 'two']);
  expect((await runtime.info(sessionId)).notices).toBeUndefined();
});

const capabilities = async (provide: () => AgentDriver) => {
  const { editor } = await stage({ provide });
  const { agentCapabilities } = await (await editor()).hello();
  return agentCapabilities?.mcpCapabilities;
};

test('the MCP transports that each agent supports are reported', async () => {
  expect(await capabilities(() => new ClaudeDriver())).toEqual({ http: true, sse: true });
  expect(await capabilities(() => new CodexDriver())).toEqual({ http: true, sse: false });
  expect(await capabilities(bareModel)).toEqual({ http: true, sse: true });
  expect(await capabilities(() => new DemoDriver())).toEqual({ http: false, sse: false });
});

test('until an ACP agent reports its MCP transports, it is assumed to support all of them', async () => {
  const { provider } = await scriptedAcp({ sse: true });
  const { editor } = await stage({ provide: () => provider });
  const zed = await editor();
  const told = async () => (await zed.hello()).agentCapabilities?.mcpCapabilities;
  expect(await told()).toEqual({ http: true, sse: true });
  await zed.create();
  expect(await told()).toEqual({ http: false, sse: true });
});
