import { type AgentDriver, DriverRegistry } from '@liminal/agents';
import { DemoDriver } from '@liminal/agents/demo';
import { AcpDriver } from '@liminal/agents/acp';
import { ClaudeDriver } from '@liminal/agents/claude-code';
import { CodexDriver } from '@liminal/agents/codex';
import {
  createModelDrivers,
  LazyClient,
  type ModelClient,
  type ModelServer,
} from '@liminal/agents/models';
import { builtInTools, type ToolQueue } from '@liminal/agents/tools';
import type { AgentEntry } from './config/agents.ts';
import type { Config } from './config/load.ts';
import type { ModelConfig } from './config/models.ts';

/**
 * Every agent type that Liminal knows, including types that cannot run on this machine; configured agents come last.
 * @param tasks - The queue from which workers take tool calls; only if servers share a Redis.
 */
export function createAgents(config: Config, tasks?: ToolQueue): DriverRegistry {
  const { agents: entries, claude, mcpServers, userCommands } = config;
  const agents = new DriverRegistry();
  agents.register(new ClaudeDriver({ ...claude, mcpServers, userCommands }));
  if (!('codex' in entries)) agents.register(new CodexDriver({ mcpServers, userCommands }));
  for (const driver of modelDrivers(config, tasks)) agents.register(driver);
  agents.register(new DemoDriver());
  for (const [cliType, entry] of Object.entries(entries)) {
    agents.register(configured(cliType, entry, config));
  }
  return agents;
}

function configured(
  cliType: string,
  { name, description, defaults, mcpServers: own, ...entry }: AgentEntry,
  { mcpServers: all, dataDir, userCommands }: Config,
): AgentDriver {
  const mcpServers = own === false ? {} : (own ?? all);
  if (cliType === 'codex') {
    const { sharedProcess: _, files: __, openLimitMs: ___, ...codex } = entry;
    return new CodexDriver({ ...codex, defaults, mcpServers, userCommands });
  }
  const { mode, ...config } = defaults;
  const options = {
    ...entry,
    mcpServers,
    hiddenFolders: [dataDir],
    defaults: { config, ...(mode !== undefined && { mode }) },
  };
  return new AcpDriver({
    ...options,
    cliType,
    name: name ?? cliType,
    description: description ?? `${entry.command}, from the configuration.`,
  });
}

function modelDrivers(
  { dataDir, models, tools, mcpServers, hiddenVariables }: Config,
  tasks: ToolQueue | undefined,
): AgentDriver[] {
  const workers = tools.workers === true ? tasks : undefined;
  const { fetch = false, scripts: runsScripts = true, maxRounds } = tools;
  const hiddenFolders = [dataDir];
  return createModelDrivers({
    servers: models.map(modelServer),
    tools: builtInTools({ fetch, hiddenFolders, hiddenVariables, workers }),
    mcpServers,
    hiddenFolders,
    hiddenVariables,
    runsScripts,
    ...(maxRounds !== undefined && { maxRounds }),
  });
}

function modelServer({ cliType: name, ...config }: ModelConfig): ModelServer {
  const client = new LazyClient(config.type, async () => createModelClient(config));
  return { ...config, name, client, takesAudio: takesAudio(config) };
}

/**
 * Only the API Chat Completions accepts audio. OpenAI's own server also has the Responses API, which Liminal uses by
 * default for that server.
 */
function takesAudio({ type, baseUrl, api }: Omit<ModelConfig, 'cliType'>): boolean {
  const apiInUse = api ?? (baseUrl === undefined ? 'responses' : 'chat');
  return type === 'openai' && apiInUse === 'chat';
}

async function createModelClient({
  type,
  ...config
}: Omit<ModelConfig, 'cliType'>): Promise<ModelClient> {
  if (type === 'openai') {
    const { OpenAiClient } = await import('@liminal/agents/openai');
    return new OpenAiClient(config);
  }
  const { AnthropicClient } = await import('@liminal/agents/anthropic');
  return new AnthropicClient(config);
}
