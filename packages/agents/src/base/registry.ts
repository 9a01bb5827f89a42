import { errors } from '../contract/errors.ts';
import type { AgentDriver, AgentSession } from '../contract/driver.ts';
import type { AgentInfo } from '@liminal/protocol';
import { DriverProvider } from './driver-provider.ts';
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
    throw errors.UNSUPPORTED_CLI_TYPE.unknown(cliType, known);
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

/** Replaces an agent that is no longer configured: its sessions can be read, and messages are rejected. */
class MissingAgent implements AgentDriver {
  readonly cliType: string;
  readonly name: string;

  constructor(cliType: string) {
    this.cliType = cliType;
    this.name = cliType;
  }

  open = (): Promise<AgentSession> => this.#refuse();
  describe = (): Promise<AgentInfo> => this.#refuse();

  async #refuse(): Promise<never> {
    throw errors.UNSUPPORTED_CLI_TYPE.removed(this.cliType);
  }
}
