/** Sessions that only the agents' own stores have. */
import { setTimeout } from 'node:timers/promises';
import type { AgentDriver, DriverRegistry, StoredSession } from '@liminal/agents';
import type { AgentInfo } from '@liminal/protocol';
import { errors } from '../errors.ts';
import { type FoundSession, type SessionListStorage, ListedSessions } from './listed-sessions.ts';

/**
 * How long a read of the agents' own stores is reused, in ms: long enough for callers that ask at the same time, and
 * short enough to find a session that has just ended in a terminal.
 */
const freshMs = 100;

/** How long a request for a list, or for one session, waits for a running agent, in ms. */
const patienceMs = 1_000;

/** The minimum time between two requests to the same running agent, in ms. */
const refreshMs = 60_000;

interface AgentStoresOptions {
  registry: Pick<DriverRegistry, 'list'>;
  /** The folders of the known projects, the most recently used first. */
  folders: () => Promise<string[]>;
  /** Stores the agents' lists across restarts; without it, the lists last only as long as the server. */
  storage?: SessionListStorage;
  /** The current time in ms since the epoch. */
  now: () => number;
  onTrouble: (cliType: string, error: unknown) => void;
}

/**
 * Lists the sessions in the agents' own stores. A store that can be read directly is read. For a store that only its
 * agent can read, shows the agent's last list. That list was made while a session of the agent ran, or when a user
 * asked for it; sessions found on disk are added. Showing a list starts no program.
 */
export class AgentStores {
  readonly #options: AgentStoresOptions;
  readonly #listed: ListedSessions;
  readonly #reads = new Map<AgentDriver, { at: number; found: Promise<FoundSession[]> }>();
  readonly #askedAt = new Map<string, number>();

  constructor(options: AgentStoresOptions) {
    this.#options = options;
    this.#listed = new ListedSessions(options.storage, (error) =>
      options.onTrouble('agents', error),
    );
  }

  /** Returns the sessions in all stores. For an agent that does not answer within a second, its last list is used. */
  async list(): Promise<FoundSession[]> {
    return (await Promise.all(this.#drivers.map(async (one) => this.#soon(one)))).flat();
  }

  /** Calls `onFound` with each agent's sessions as soon as they are read. */
  each(onFound: (found: FoundSession[]) => void): void {
    for (const driver of this.#drivers) void this.#read(driver).then(onFound);
  }

  /**
   * Finds a session by its id. Reads the stores again if the session is unknown, because the session may have been
   * created a moment ago.
   */
  async find(sessionId: string): Promise<FoundSession | undefined> {
    const isIt = (found: FoundSession): boolean => found.sessionId === sessionId;
    const listed = (await this.#listed.all()).find(isIt);
    if (listed) return listed;
    this.#reads.clear();
    const lists = this.#drivers.map(async (driver) =>
      driver.peekStoredSessions ? this.#soon(driver) : this.#read(driver),
    );
    return (await Promise.all(lists)).flat().find(isIt);
  }

  /** Asks an agent for its sessions, when a user requests this; starts the agent if needed. Throws `NOT_SUPPORTED`. */
  async requestSessions(driver: AgentDriver): Promise<FoundSession[]> {
    const { cliType } = driver;
    if (!driver.listStoredSessions) {
      throw errors.NOT_SUPPORTED.list(cliType);
    }
    const known = await this.#options.folders();
    const found = tagged(cliType, await driver.listStoredSessions(undefined, known));
    this.#reads.set(driver, { at: this.#options.now(), found: Promise.resolve(found) });
    if (driver.peekStoredSessions) await this.#listed.put(cliType, found);
    return found;
  }

  /** Asks an agent that is already running, at most every `refreshMs`. */
  refresh(driver: AgentDriver, onFound: (found: FoundSession[]) => void): void {
    if (!driver.peekStoredSessions) return;
    const now = this.#options.now();
    if (now - (this.#askedAt.get(driver.cliType) ?? -refreshMs) < refreshMs) return;
    this.#askedAt.set(driver.cliType, now);
    void this.#read(driver).then(onFound);
  }

  get #drivers(): readonly AgentDriver[] {
    return this.#options.registry.list();
  }

  async #soon(driver: AgentDriver): Promise<FoundSession[]> {
    const late = setTimeout(patienceMs, undefined, { ref: false });
    return (await Promise.race([this.#read(driver), late])) ?? this.#listed.of(driver.cliType);
  }

  #read(driver: AgentDriver): Promise<FoundSession[]> {
    const now = this.#options.now();
    const last = this.#reads.get(driver);
    if (last && now - last.at <= freshMs) return last.found;
    const found = this.#readOne(driver);
    this.#reads.set(driver, { at: now, found });
    return found;
  }

  async #readOne(driver: AgentDriver): Promise<FoundSession[]> {
    const { cliType } = driver;
    try {
      if (!driver.peekStoredSessions) {
        return tagged(cliType, (await driver.listStoredSessions?.()) ?? []);
      }
      const reported = await driver.peekStoredSessions(await this.#options.folders());
      if (reported) await this.#listed.put(cliType, tagged(cliType, reported));
      const listed = reported ? tagged(cliType, reported) : await this.#listed.of(cliType);
      const onDisk = tagged(cliType, (await driver.scanStoredSessions?.()) ?? []);
      return merged(listed, onDisk);
    } catch (error) {
      this.#options.onTrouble(cliType, error);
      return this.#listed.of(cliType);
    }
  }
}

function tagged(cliType: string, stored: readonly StoredSession[]): FoundSession[] {
  return stored.map((session) => ({ ...session, cliType }));
}

/** Returns each session once, with the agent's title if it reported one, and the time of its last change. */
function merged(
  reported: readonly FoundSession[],
  onDisk: readonly FoundSession[],
): FoundSession[] {
  const all = new Map(reported.map((session) => [session.sessionId, session]));
  for (const session of onDisk) {
    const { title = session.title } = all.get(session.sessionId) ?? {};
    all.set(session.sessionId, { ...session, title });
  }
  return [...all.values()].toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
}

/** Describes an agent and the features of its sessions. Starts nothing. */
export async function describeAgent(driver: AgentDriver): Promise<AgentInfo> {
  return {
    ...(await driver.describe()),
    ...(driver.peekStoredSessions && { sessionsOnRequest: true }),
    ...(driver.fork && driver.forksWhole !== true && { forks: true }),
    ...(driver.rewinds === true && { rewinds: true }),
    ...(driver.takesDirectories === true && { takesDirectories: true }),
    ...(driver.rewindsConversation === true && { rewindsConversation: true }),
    ...(driver.answersAside === true && { answersAside: true }),
    ...(driver.tellsSetup === true && { tellsSetup: true }),
    ...(driver.managesMcp === true && { managesMcp: true }),
    ...(driver.backgrounds === true && { backgrounds: true }),
    ...(driver.usesGrants === true && { usesGrants: true }),
  };
}
