import type { AgentInfo } from '@liminal/protocol';
import type { AgentDriver, AgentSession } from '../contract/driver.ts';
import { ProviderError } from '../contract/errors.ts';

/** Replaces an agent that is no longer configured: its sessions can be read, and messages are rejected. */
export class MissingAgent implements AgentDriver {
  readonly cliType: string;
  readonly name: string;

  constructor(cliType: string) {
    this.cliType = cliType;
    this.name = cliType;
  }

  open = (): Promise<AgentSession> => this.#refuse();
  describe = (): Promise<AgentInfo> => this.#refuse();

  async #refuse(): Promise<never> {
    throw new ProviderError(
      'UNSUPPORTED_CLI_TYPE',
      `This session was made with the agent "${this.cliType}", which is no longer in the configuration. The conversation can be read; to continue it, add the agent again.`,
    );
  }
}
