import { type CliProvider, ProviderRegistry } from '@liminal/agents';
import { createDemoProvider } from '@liminal/agents/demo';
import { AcpProvider } from '@liminal/agents/acp';
import { ClaudeCodeProvider } from '@liminal/agents/claude-code';
import { createCodexProvider } from '@liminal/agents/codex';
import type { AgentEntry } from './config/agents.ts';
import type { Config } from './config/load.ts';

/** Every agent type that Liminal knows, whether or not it can run here; configured agents come last. */
export function createAgents({ agents: entries, claude, mcpServers }: Config): ProviderRegistry {
  const agents = new ProviderRegistry();
  agents.register(new ClaudeCodeProvider({ ...claude, mcpServers }));
  if (!('codex' in entries)) agents.register(createCodexProvider({ mcpServers }));
  agents.register(createDemoProvider());
  for (const [cliType, entry] of Object.entries(entries)) {
    agents.register(configured(cliType, entry, mcpServers));
  }
  return agents;
}

function configured(
  cliType: string,
  { name, description, defaults, ...entry }: AgentEntry,
  mcpServers: Config['mcpServers'],
): CliProvider {
  if (cliType === 'codex') {
    const { sharedProcess: _, ...codex } = entry;
    return createCodexProvider({ ...codex, defaults, mcpServers });
  }
  const { mode, ...config } = defaults;
  const options = {
    ...entry,
    mcpServers,
    defaults: { config, ...(mode !== undefined && { mode }) },
  };
  return new AcpProvider({
    ...options,
    cliType,
    name: name ?? cliType,
    description: description ?? `${entry.command}, as the configuration says.`,
  });
}
