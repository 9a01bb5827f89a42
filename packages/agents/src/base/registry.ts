import { DriverProvider } from './driver-provider.ts';
import { ProviderError } from '../contract/errors.ts';
import { MissingAgent } from './missing-agent.ts';
import type { CliProvider } from '../contract/provider.ts';

/** The kinds of agents on this server, by `cliType` (AC-2.2). */
export class ProviderRegistry {
  readonly #providers = new Map<string, CliProvider>();

  /** Adds a provider, or replaces the provider of the same `cliType`. */
  register(provider: CliProvider): void {
    this.#providers.set(provider.cliType, provider);
  }

  /** Throws ProviderError `UNSUPPORTED_CLI_TYPE` for an unregistered kind. */
  get(cliType: string): CliProvider {
    const provider = this.#providers.get(cliType);
    if (provider) return provider;
    const known = [...this.#providers.keys()].join(', ') || 'none';
    throw new ProviderError(
      'UNSUPPORTED_CLI_TYPE',
      `Unknown agent type "${cliType}". Known: ${known}.`,
    );
  }

  /** Returns the provider of an existing session; for an unregistered kind, a provider that rejects every message. */
  of(cliType: string): CliProvider {
    return this.#providers.get(cliType) ?? new DriverProvider(new MissingAgent(cliType));
  }

  /** Returns all providers in the order of registration. */
  list(): CliProvider[] {
    return [...this.#providers.values()];
  }
}
