import { createDemoProvider, ProviderRegistry } from '@liminal/agents';
import { ClaudeCodeProvider } from '@liminal/agents/claude-code';
import type { Config } from './config/load.ts';

/** Every agent type that Liminal knows, whether or not it can run here. */
export function createAgents({ mcpServers }: Config): ProviderRegistry {
  const agents = new ProviderRegistry();
  agents.register(new ClaudeCodeProvider({ mcpServers }));
  agents.register(createDemoProvider());
  return agents;
}
