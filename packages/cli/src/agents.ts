import { ProviderRegistry } from '@liminal/agents';

/** Every agent type that Liminal knows, whether or not it can run here. */
export function createAgents(): ProviderRegistry {
  return new ProviderRegistry();
}
