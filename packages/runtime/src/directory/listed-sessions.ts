import type { StoredSession } from '@liminal/agents';
import { z } from 'zod';

export interface FoundSession extends StoredSession {
  cliType: string;
}

/** Stores the agents' lists of their own sessions across restarts, as JSON. */
export interface SessionListStorage {
  /** Undefined if nothing is stored. */
  read: () => Promise<unknown>;
  write: (lists: unknown) => Promise<void>;
}

const ListedSession = z.object({
  sessionId: z.string(),
  projectDir: z.string(),
  title: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

/** By agent type. */
const AgentSessionLists = z.record(z.string(), z.object({ sessions: z.array(ListedSession) }));
type AgentSessionLists = z.infer<typeof AgentSessionLists>;

/** The last listed sessions of stores that only their agents can read. */
export class ListedSessions {
  readonly #storage: SessionListStorage | undefined;
  readonly #onTrouble: (error: unknown) => void;
  #stores: Promise<AgentSessionLists> | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** @param onTrouble - Called if reading or writing failed: the lists then last only as long as the server. */
  constructor(storage: SessionListStorage | undefined, onTrouble: (error: unknown) => void) {
    this.#storage = storage;
    this.#onTrouble = onTrouble;
  }

  async all(): Promise<FoundSession[]> {
    const stores = Object.entries(await this.#read());
    return stores.flatMap(([cliType, { sessions }]) => asFound(cliType, sessions));
  }

  async of(cliType: string): Promise<FoundSession[]> {
    return asFound(cliType, (await this.#read())[cliType]?.sessions ?? []);
  }

  async put(cliType: string, sessions: readonly FoundSession[]): Promise<void> {
    const stores = await this.#read();
    const parsed = sessions.map((session) => ListedSession.parse(session));
    if (JSON.stringify(stores[cliType]?.sessions) === JSON.stringify(parsed)) return;
    stores[cliType] = { sessions: parsed };
    this.#writing = this.#writing
      .then(async () => this.#storage?.write(stores))
      .catch(this.#onTrouble);
    await this.#writing;
  }

  #read(): Promise<AgentSessionLists> {
    this.#stores ??= this.#readStorage();
    return this.#stores;
  }

  async #readStorage(): Promise<AgentSessionLists> {
    try {
      return AgentSessionLists.parse((await this.#storage?.read()) ?? {});
    } catch (error) {
      this.#onTrouble(error);
      return {};
    }
  }
}

const asFound = (
  cliType: string,
  sessions: readonly z.infer<typeof ListedSession>[],
): FoundSession[] => sessions.map((session) => ({ ...session, cliType }));
