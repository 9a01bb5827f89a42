import type { AgentInfo } from '@liminal/protocol';
import { ProviderError } from './errors.ts';
import type { CliProvider, Unsubscribe } from './provider.ts';

/** Stands in for an agent that is no longer configured: its sessions can be read, and a message is refused. */
export class MissingAgent implements CliProvider {
  readonly cliType: string;

  constructor(cliType: string) {
    this.cliType = cliType;
  }

  createSession = (): Promise<never> => this.#refuse();
  loadSession = (): Promise<never> => this.#refuse();
  sendMessage = (): Promise<never> => this.#refuse();
  async cancelTurn(): Promise<void> {}
  async killSession(): Promise<void> {}
  isAlive = (): boolean => false;
  onEvent = (): Unsubscribe => nothing;
  onUpsert = (): Unsubscribe => nothing;
  onTurn = (): Unsubscribe => nothing;
  onUpdate = (): Unsubscribe => nothing;
  onExit = (): Unsubscribe => nothing;
  describe = (): Promise<AgentInfo> => this.#refuse();
  async close(): Promise<void> {}

  async #refuse(): Promise<never> {
    throw new ProviderError(
      'UNSUPPORTED_CLI_TYPE',
      `This session was made with the agent "${this.cliType}", which is not in the configuration any more. What was said can be read; to go on, add the agent again.`,
    );
  }
}

function nothing(): void {}
