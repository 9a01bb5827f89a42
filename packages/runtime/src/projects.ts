import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { CliProvider, StoredSession } from '@liminal/agents';
import type { Project, SessionSummary } from '@liminal/protocol';
import { nameOf } from './session-record.ts';

/**
 * How long a reading of the agents' own stores is good for, in ms: for those who ask together, and no longer, so that
 * somebody who comes from a terminal finds the session that they have just ended there.
 */
const FRESH_MS = 100;

export interface FoundSession extends StoredSession {
  cliType: string;
}

/** How long somebody who asks for a list waits for a store, in ms. Some start a process to be read. */
const PATIENCE_MS = 1_000;

/** Sessions that only the agents' own stores know. */
export class AgentStores {
  readonly #providers: () => readonly CliProvider[];
  readonly #now: () => number;
  readonly #onTrouble: (cliType: string, error: unknown) => void;
  readonly #reads = new Map<CliProvider, { at: number; found: Promise<FoundSession[]> }>();

  constructor(
    providers: () => readonly CliProvider[],
    now: () => number,
    onTrouble: (cliType: string, error: unknown) => void,
  ) {
    this.#providers = providers;
    this.#now = now;
    this.#onTrouble = onTrouble;
  }

  /** What they have, without what a slow one has not told within a second. */
  async list(): Promise<FoundSession[]> {
    const late = setTimeout(PATIENCE_MS, [], { ref: false });
    const lists = await Promise.all(this.#all().map(async (found) => Promise.race([found, late])));
    return lists.flat();
  }

  /** Gives what each has, as soon as it tells. */
  each(onFound: (found: FoundSession[]) => void): void {
    for (const found of this.#all()) void found.then(onFound);
  }

  /** Looks again if need be: it may have been made a moment ago. */
  async find(sessionId: string): Promise<FoundSession | undefined> {
    const known = await this.#find(sessionId);
    if (known) return known;
    this.#reads.clear();
    return this.#find(sessionId);
  }

  async #find(sessionId: string): Promise<FoundSession | undefined> {
    const lists = await Promise.all(this.#all());
    return lists.flat().find((found) => found.sessionId === sessionId);
  }

  #all(): Promise<FoundSession[]>[] {
    return this.#providers().map((provider) => {
      const last = this.#reads.get(provider);
      if (last && this.#now() - last.at <= FRESH_MS) return last.found;
      const found = this.#readOne(provider);
      this.#reads.set(provider, { at: this.#now(), found });
      return found;
    });
  }

  async #readOne(provider: CliProvider): Promise<FoundSession[]> {
    try {
      const stored = (await provider.listStoredSessions?.()) ?? [];
      return stored.map((session) => ({ ...session, cliType: provider.cliType }));
    } catch (error) {
      this.#onTrouble(provider.cliType, error);
      return [];
    }
  }
}

export function summarizeFound(found: FoundSession): SessionSummary {
  const { sessionId, cliType, projectDir, createdAt, updatedAt } = found;
  return {
    sessionId,
    cliType,
    projectId: projectDir,
    projectDir,
    title: nameOf(found),
    createdAt,
    updatedAt,
    state: 'idle',
    isAlive: false,
    active: false,
    source: 'agent',
  };
}

/** Sessions by project; the project worked in last comes first. */
export function groupByProject(sessions: readonly SessionSummary[]): Project[] {
  const newestFirst = sessions.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  return [...Map.groupBy(newestFirst, ({ projectId }) => projectId)].map(([projectId, own]) => {
    const projectDir = own[0]?.projectDir ?? projectId;
    return { projectId, projectDir, name: basename(projectDir) || projectDir, sessions: own };
  });
}
