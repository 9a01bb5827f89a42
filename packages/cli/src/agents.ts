import { createDemoProvider, ProviderRegistry } from '@liminal/agents';
import { ClaudeCodeProvider } from '@liminal/agents/claude-code';

/** Every agent type that Liminal knows, whether or not it can run here. */
export function createAgents(): ProviderRegistry {
  const agents = new ProviderRegistry();
  agents.register(new ClaudeCodeProvider());
  agents.register(createDemoProvider());
  return agents;
}
