import type { AgentInfo } from '@liminal/protocol';
import { errors } from '../contract/errors.ts';
import type { AgentDriver, AgentSession } from '../contract/driver.ts';
import { AgentSessions, type HeldSession } from './held-session.ts';

/** The kinds of agents on this server, by `cliType` (AC-2.2), and their sessions. */
export class DriverRegistry {
  readonly #drivers = new Map<string, AgentDriver>();
  readonly #sessions = new WeakMap<AgentDriver, AgentSessions>();

  /** Adds a driver, or replaces the driver of the same `cliType`. */
  register(driver: AgentDriver): void {
    this.#drivers.set(driver.cliType, driver);
  }

  /** Throws ProviderError `UNSUPPORTED_CLI_TYPE` for an unregistered kind. */
  get(cliType: string): AgentDriver {
    const driver = this.#drivers.get(cliType);
    if (driver) return driver;
    const known = [...this.#drivers.keys()].join(', ') || 'none';
    throw errors.UNSUPPORTED_CLI_TYPE.unknown(cliType, known);
  }

  /** Returns the driver of an existing session; for an unregistered kind, a driver that opens no session. */
  of(cliType: string): AgentDriver {
    return this.#drivers.get(cliType) ?? new MissingAgent(cliType);
  }

  /** Returns all drivers in the order of registration. */
  list(): AgentDriver[] {
    return [...this.#drivers.values()];
  }

  /** Returns a session of an agent, open or not. */
  session(driver: AgentDriver, sessionId: string): HeldSession {
    return this.#sessionsOf(driver).get(sessionId);
  }

  /** Ends all sessions of all agents, and releases the agents' other resources. Errors are ignored. */
  async close(): Promise<void> {
    await Promise.allSettled(this.list().map(async (driver) => this.#sessionsOf(driver).close()));
  }

  #sessionsOf(driver: AgentDriver): AgentSessions {
    const known = this.#sessions.get(driver);
    if (known) return known;
    const sessions = new AgentSessions(driver);
    this.#sessions.set(driver, sessions);
    return sessions;
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
