import { ProviderError } from './errors.ts';
import { MissingAgent } from './missing-agent.ts';
import type { CliProvider } from './provider.ts';

/** The kinds of agents that this server knows, by `cliType` (AC-2.2). */
export class ProviderRegistry {
  readonly #providers = new Map<string, CliProvider>();

  /** Adds a provider; one of the same `cliType` that was there before gives way. */
  register(provider: CliProvider): void {
    this.#providers.set(provider.cliType, provider);
  }

  /** Throws ProviderError `UNSUPPORTED_CLI_TYPE` for a kind that nobody registered. */
  get(cliType: string): CliProvider {
    const provider = this.#providers.get(cliType);
    if (provider) return provider;
    const known = [...this.#providers.keys()].join(', ') || 'none';
    throw new ProviderError(
      'UNSUPPORTED_CLI_TYPE',
      `There is no agent type "${cliType}" here. Known: ${known}.`,
    );
  }

  /** The agent of a session that is there: one that nobody knows any more starts nothing, and says so. */
  of(cliType: string): CliProvider {
    return this.#providers.get(cliType) ?? new MissingAgent(cliType);
  }

  /** In the order of their registration. */
  list(): CliProvider[] {
    return [...this.#providers.values()];
  }
}
