import type { StoredSession } from '@liminal/agents';
import { z } from 'zod';

export interface FoundSession extends StoredSession {
  cliType: string;
}

/** Stores the agents' lists of their own sessions across restarts, as JSON. */
export interface LearntStores {
  /** Undefined if nothing is stored. */
  read: () => Promise<unknown>;
  write: (learnt: unknown) => Promise<void>;
}

const Session = z.object({
  sessionId: z.string(),
  projectDir: z.string(),
  title: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

/** By agent type. */
const Stores = z.record(z.string(), z.object({ sessions: z.array(Session) }));
type Stores = z.infer<typeof Stores>;

/** The last listed sessions of stores that only their agents can read. */
export class Learnt {
  readonly #kept: LearntStores | undefined;
  readonly #onTrouble: (error: unknown) => void;
  #stores: Promise<Stores> | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** @param onTrouble - Called if reading or writing failed: the lists then last only as long as the server. */
  constructor(kept: LearntStores | undefined, onTrouble: (error: unknown) => void) {
    this.#kept = kept;
    this.#onTrouble = onTrouble;
  }

  async all(): Promise<FoundSession[]> {
    const stores = Object.entries(await this.#read());
    return stores.flatMap(([cliType, { sessions }]) => found(cliType, sessions));
  }

  async of(cliType: string): Promise<FoundSession[]> {
    return found(cliType, (await this.#read())[cliType]?.sessions ?? []);
  }

  async put(cliType: string, sessions: readonly FoundSession[]): Promise<void> {
    const stores = await this.#read();
    const told = sessions.map((session) => Session.parse(session));
    if (JSON.stringify(stores[cliType]?.sessions) === JSON.stringify(told)) return;
    stores[cliType] = { sessions: told };
    this.#writing = this.#writing
      .then(async () => this.#kept?.write(stores))
      .catch(this.#onTrouble);
    await this.#writing;
  }

  #read(): Promise<Stores> {
    this.#stores ??= this.#readKept();
    return this.#stores;
  }

  async #readKept(): Promise<Stores> {
    try {
      return Stores.parse((await this.#kept?.read()) ?? {});
    } catch (error) {
      this.#onTrouble(error);
      return {};
    }
  }
}

const found = (cliType: string, sessions: readonly z.infer<typeof Session>[]): FoundSession[] =>
  sessions.map((session) => ({ ...session, cliType }));
