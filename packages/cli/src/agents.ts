import { type CliProvider, ProviderRegistry } from '@liminal/agents';
import { createDemoProvider } from '@liminal/agents/demo';
import { AcpProvider } from '@liminal/agents/acp';
import { ClaudeCodeProvider } from '@liminal/agents/claude-code';
import { createCodexProvider } from '@liminal/agents/codex';
import {
  createModelProviders,
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
export function createAgents(config: Config, tasks?: ToolQueue): ProviderRegistry {
  const { agents: entries, claude, mcpServers, userCommands } = config;
  const agents = new ProviderRegistry();
  agents.register(new ClaudeCodeProvider({ ...claude, mcpServers, userCommands }));
  if (!('codex' in entries)) agents.register(createCodexProvider({ mcpServers, userCommands }));
  for (const provider of modelProviders(config, tasks)) agents.register(provider);
  agents.register(createDemoProvider());
  for (const [cliType, entry] of Object.entries(entries)) {
    agents.register(configured(cliType, entry, config));
  }
  return agents;
}

function configured(
  cliType: string,
  { name, description, defaults, mcpServers: own, ...entry }: AgentEntry,
  { mcpServers: all, dataDir, userCommands }: Config,
): CliProvider {
  const mcpServers = own === false ? {} : (own ?? all);
  if (cliType === 'codex') {
    const { sharedProcess: _, files: __, openLimitMs: ___, ...codex } = entry;
    return createCodexProvider({ ...codex, defaults, mcpServers, userCommands });
  }
  const { mode, ...config } = defaults;
  const options = {
    ...entry,
    mcpServers,
    hiddenFolders: [dataDir],
    defaults: { config, ...(mode !== undefined && { mode }) },
  };
  return new AcpProvider({
    ...options,
    cliType,
    name: name ?? cliType,
    description: description ?? `${entry.command}, from the configuration.`,
  });
}

function modelProviders(
  { dataDir, models, tools, mcpServers, hiddenVariables }: Config,
  tasks: ToolQueue | undefined,
): CliProvider[] {
  const workers = tools.workers === true ? tasks : undefined;
  const { fetch = false, scripts: runsScripts = true, maxRounds } = tools;
  const hiddenFolders = [dataDir];
  return createModelProviders({
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
