/** Sessions that only the agents' own stores know. */
import { setTimeout } from 'node:timers/promises';
import type { CliProvider, ProviderRegistry, StoredSession } from '@liminal/agents';
import type { AgentInfo } from '@liminal/protocol';
import { RuntimeError } from '../errors.ts';
import { type LearntStores, Learnt } from './learnt-sessions.ts';

/**
 * How long a reading of the agents' own stores is good for, in ms: for those who ask together, and no longer, so that
 * somebody who comes from a terminal finds the session that they have just ended there.
 */
const FRESH_MS = 100;

/** How long somebody who asks for a list, or for one session, waits for an agent that runs, in ms. */
const PATIENCE_MS = 1_000;

/** How often an agent is asked because it runs, in ms. */
const LEARN_MS = 60_000;

export interface FoundSession extends StoredSession {
  cliType: string;
}

interface AgentStoresOptions {
  providers: Pick<ProviderRegistry, 'list'>;
  /** Of the projects that are known, the one worked in last first. */
  folders: () => Promise<string[]>;
  /** Where what agents have told is kept; without it, it is forgotten with the server. */
  kept?: LearntStores;
  /** ms since the epoch. */
  now: () => number;
  onTrouble: (cliType: string, error: unknown) => void;
}

/**
 * A store that can be read as it is, is. One that only its agent can read is shown as the agent told of it last: when a
 * session of its own ran, or when a person asked. To look at a list starts no program.
 */
export class AgentStores {
  readonly #options: AgentStoresOptions;
  readonly #learnt: Learnt;
  readonly #reads = new Map<CliProvider, { at: number; found: Promise<FoundSession[]> }>();
  readonly #askedAt = new Map<string, number>();

  constructor(options: AgentStoresOptions) {
    this.#options = options;
    this.#learnt = new Learnt(options.kept, (error) => options.onTrouble('agents', error));
  }

  /** What they have; of those that do not tell within a second, what they once told. */
  async list(): Promise<FoundSession[]> {
    return (await Promise.all(this.#providers.map(async (one) => this.#soon(one)))).flat();
  }

  /** Gives what each has, as soon as it tells. */
  each(onFound: (found: FoundSession[]) => void): void {
    for (const provider of this.#providers) void this.#read(provider).then(onFound);
  }

  /** Looks anew if need be: it may have been made a moment ago. */
  async find(sessionId: string): Promise<FoundSession | undefined> {
    const isIt = (found: FoundSession): boolean => found.sessionId === sessionId;
    const learnt = (await this.#learnt.all()).find(isIt);
    if (learnt) return learnt;
    this.#reads.clear();
    const lists = this.#providers.map(async (provider) =>
      provider.peekStoredSessions ? this.#soon(provider) : this.#read(provider),
    );
    return (await Promise.all(lists)).flat().find(isIt);
  }

  /** Asks an agent, which may be started for that: somebody wants to know. Throws `NOT_SUPPORTED`. */
  async ask(provider: CliProvider): Promise<FoundSession[]> {
    const { cliType } = provider;
    if (!provider.listStoredSessions) {
      throw new RuntimeError('NOT_SUPPORTED', `${cliType} has no sessions of its own to look for.`);
    }
    const known = await this.#options.folders();
    const found = tagged(cliType, await provider.listStoredSessions(undefined, known));
    this.#reads.set(provider, { at: this.#options.now(), found: Promise.resolve(found) });
    if (provider.peekStoredSessions) await this.#learnt.put(cliType, found);
    return found;
  }

  /** An agent runs: it is asked by the way, now and again. */
  learn(provider: CliProvider, onFound: (found: FoundSession[]) => void): void {
    if (!provider.peekStoredSessions) return;
    const now = this.#options.now();
    if (now - (this.#askedAt.get(provider.cliType) ?? -LEARN_MS) < LEARN_MS) return;
    this.#askedAt.set(provider.cliType, now);
    void this.#read(provider).then(onFound);
  }

  get #providers(): readonly CliProvider[] {
    return this.#options.providers.list();
  }

  async #soon(provider: CliProvider): Promise<FoundSession[]> {
    const late = setTimeout(PATIENCE_MS, undefined, { ref: false });
    return (await Promise.race([this.#read(provider), late])) ?? this.#learnt.of(provider.cliType);
  }

  #read(provider: CliProvider): Promise<FoundSession[]> {
    const now = this.#options.now();
    const last = this.#reads.get(provider);
    if (last && now - last.at <= FRESH_MS) return last.found;
    const found = this.#readOne(provider);
    this.#reads.set(provider, { at: now, found });
    return found;
  }

  async #readOne(provider: CliProvider): Promise<FoundSession[]> {
    const { cliType } = provider;
    try {
      if (!provider.peekStoredSessions) {
        return tagged(cliType, (await provider.listStoredSessions?.()) ?? []);
      }
      const told = await provider.peekStoredSessions(await this.#options.folders());
      if (!told) return await this.#learnt.of(cliType);
      const found = tagged(cliType, told);
      await this.#learnt.put(cliType, found);
      return found;
    } catch (error) {
      this.#options.onTrouble(cliType, error);
      return this.#learnt.of(cliType);
    }
  }
}

function tagged(cliType: string, stored: readonly StoredSession[]): FoundSession[] {
  return stored.map((session) => ({ ...session, cliType }));
}

/** What is known of an agent, and whether it has to be asked for its own sessions. Starts nothing. */
export async function describeAgent(provider: CliProvider): Promise<AgentInfo> {
  const info = await provider.describe();
  return provider.peekStoredSessions ? { ...info, sessionsOnRequest: true } : info;
}
