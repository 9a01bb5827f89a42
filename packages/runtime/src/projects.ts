import { basename } from 'node:path';
import type { CliProvider, StoredSession } from '@liminal/agents';
import type { Project, SessionSummary } from '@liminal/protocol';

/**
 * How long a reading of the agents' own stores is good for, in ms: for those who ask together, and no longer, so that
 * somebody who comes from a terminal finds the session that they have just ended there.
 */
const FRESH_MS = 100;

export interface FoundSession extends StoredSession {
  cliType: string;
}

/** Sessions that only the agents' own stores know. */
export class AgentStores {
  readonly #providers: () => readonly CliProvider[];
  readonly #now: () => number;
  readonly #onTrouble: (cliType: string, error: unknown) => void;
  #read: { at: number; found: Promise<FoundSession[]> } | undefined;

  constructor(
    providers: () => readonly CliProvider[],
    now: () => number,
    onTrouble: (cliType: string, error: unknown) => void,
  ) {
    this.#providers = providers;
    this.#now = now;
    this.#onTrouble = onTrouble;
  }

  async list(): Promise<FoundSession[]> {
    if (!this.#read || this.#now() - this.#read.at > FRESH_MS) {
      this.#read = { at: this.#now(), found: this.#readAll() };
    }
    return this.#read.found;
  }

  /** Looks again if need be: it may have been made a moment ago. */
  async find(sessionId: string): Promise<FoundSession | undefined> {
    const known = (await this.list()).find((found) => found.sessionId === sessionId);
    if (known) return known;
    this.#read = undefined;
    return (await this.list()).find((found) => found.sessionId === sessionId);
  }

  async #readAll(): Promise<FoundSession[]> {
    const lists = await Promise.all(
      this.#providers().map(async (provider) => {
        try {
          const stored = (await provider.listStoredSessions?.()) ?? [];
          return stored.map((session) => ({ ...session, cliType: provider.cliType }));
        } catch (error) {
          this.#onTrouble(provider.cliType, error);
          return [];
        }
      }),
    );
    return lists.flat();
  }
}

export function summarizeFound(found: FoundSession): SessionSummary {
  const { sessionId, cliType, projectDir, title, createdAt, updatedAt } = found;
  return {
    sessionId,
    cliType,
    projectId: projectDir,
    projectDir,
    title,
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
