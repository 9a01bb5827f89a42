import type { Grant, Response } from '@liminal/protocol';
import type { FunctionReturnType } from 'convex/server';
import { errors } from '../errors.ts';
import type {
  CallsWanted,
  ItemPage,
  ItemsWanted,
  ResponseHead,
  ResponseStore,
  SearchHit,
  SearchQuery,
  SessionRecord,
  StoredItem,
} from '../response-store.ts';
import { sessionIdsOf } from '../store/session-ids.ts';
import { searchableTitle } from '../store/searchable-text.ts';
import { readGrant, readSession, refuseDamaged } from '../store/stored-json.ts';
import { textKey } from '../store/text-key.ts';
import { wordList } from '../store/words.ts';
import { api, type Deployment } from './deployment.ts';
import { splitText } from './pack.ts';
import { listRuns, readCalls, readItems, readResponse } from './reading.ts';
import { ResponseSaver } from './saving.ts';
import { search } from './searching.ts';

/** The most ids that one call looks up. */
const idsMax = 1_000;

type Listed = FunctionReturnType<typeof api.sessions.list>;

/**
 * Sessions and Responses in a Convex deployment with the functions of `convex/`. A write is one mutation, or several
 * mutations of which the last makes the written data visible. Two operations are weaker than the contract, because
 * mutations are limited: an import of more than 1000 runs, and the deletion of a session with more than 1000 runs,
 * happen in steps. A step handles a thousand runs, or fewer if their heads are large.
 */
export class ConvexResponseStore implements ResponseStore {
  readonly #deployment: Deployment;
  readonly #saver: ResponseSaver;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    this.#saver = new ResponseSaver(deployment);
  }

  async saveSession(session: SessionRecord): Promise<void> {
    const stored = await this.#partsOf(session.sessionId);
    refuseDamaged(session.sessionId, stored.length === 0 ? undefined : stored.join(''));
    const outcome = await this.#deployment.write(async () =>
      this.#deployment.mutation(api.sessions.save, {
        session: {
          sessionId: textKey(session.sessionId),
          projectId: textKey(session.projectId),
          active: session.active,
          createdAt: session.createdAt,
          updatedAt: session.updatedAt,
          fence: session.fence,
          titleWords: wordList(searchableTitle(session)),
        },
        record: splitText(JSON.stringify(session)),
      }),
    );
    if (outcome === 'stale') throw errors.STALE_OWNER.saves(session.sessionId);
    if (outcome === 'deleted') throw errors.SESSION_NOT_FOUND.deleted(session.sessionId);
  }

  async getSession(sessionId: string): Promise<SessionRecord | undefined> {
    const record = await this.#partsOf(sessionId);
    return record.length === 0 ? undefined : recordOf(record, sessionId);
  }

  /** Returns the parts of a session's record; empty if the session is not stored. */
  async #partsOf(sessionId: string): Promise<string[]> {
    return this.#deployment.read(async () =>
      this.#deployment.query(api.sessions.get, { sessionId: textKey(sessionId) }),
    );
  }

  async takeSession(sessionId: string, fence: number): Promise<SessionRecord | undefined> {
    const record = await this.#deployment.write(async () =>
      this.#deployment.mutation(api.sessions.take, { sessionId: textKey(sessionId), fence }),
    );
    if (record === null) throw errors.STALE_OWNER.saves(sessionId);
    if (record.length === 0) return undefined;
    // Convex has already raised the stored fence; write the fence into the record as well.
    const stored = recordOf(record, sessionId);
    if (stored === undefined) return undefined;
    const taken = { ...stored, fence };
    await this.saveSession(taken);
    return taken;
  }

  async listSessions({ projectId, active }: { projectId?: string; active?: boolean } = {}): Promise<
    SessionRecord[]
  > {
    const filter = {
      ...(projectId !== undefined && { projectId: textKey(projectId) }),
      ...(active !== undefined && { active }),
    };
    return this.#deployment.read(async () => {
      const records: SessionRecord[] = [];
      let after: { after?: NonNullable<Listed['next']> } = {};
      for (;;) {
        const found: Listed = await this.#deployment.query(api.sessions.list, {
          ...filter,
          ...after,
        });
        records.push(...found.records.flatMap((parts) => recordOf(parts) ?? []));
        if (found.next === null) return records;
        after = { after: found.next };
      }
    });
  }

  async deleteSession(sessionId: string): Promise<void> {
    const id = textKey(sessionId);
    const record = await this.#deployment.write(async () =>
      this.#deployment.query(api.sessions.get, { sessionId: id }),
    );
    const stored = recordOf(record);
    const ids = stored ? sessionIdsOf(stored).map(textKey) : [id];
    const remove = async (): Promise<boolean> =>
      this.#deployment.mutation(api.sessions.remove, { sessionId: id, ids });
    while (await this.#deployment.write(remove));
  }

  async findDeleted(ids: readonly string[]): Promise<string[]> {
    const found = new Set<string>();
    for (let from = 0; from < ids.length; from += idsMax) {
      const some = ids.slice(from, from + idsMax).map(textKey);
      const deleted = await this.#deployment.read(async () =>
        this.#deployment.query(api.deleted.find, { ids: some }),
      );
      for (const id of deleted) found.add(id);
    }
    return ids.filter((id) => found.has(textKey(id)));
  }

  async saveResponse(response: Response): Promise<void> {
    await this.importResponses([response]);
  }

  async importResponses(responses: readonly Response[]): Promise<void> {
    await this.#saver.save(responses);
  }

  async getResponse(runId: string): Promise<Response | undefined> {
    return this.#deployment.read(async () => readResponse(this.#deployment, runId));
  }

  async listRuns(
    sessionId: string,
    options: { fromRunId?: string } = {},
  ): Promise<ResponseHead[] | undefined> {
    return this.#deployment.read(async () =>
      listRuns(this.#deployment, sessionId, options.fromRunId),
    );
  }

  async readItems(sessionId: string, options: ItemsWanted): Promise<ItemPage> {
    return this.#deployment.read(async () => readItems(this.#deployment, sessionId, options));
  }

  async readCalls(wanted: CallsWanted): Promise<StoredItem[]> {
    return this.#deployment.read(async () => readCalls(this.#deployment, wanted));
  }

  async search(query: SearchQuery): Promise<SearchHit[]> {
    return this.#deployment.read(async () => search(this.#deployment, query));
  }

  async listGrants(projectId: string): Promise<Grant[]> {
    const records = await this.#deployment.read(async () =>
      this.#deployment.query(api.grants.list, { projectId: textKey(projectId) }),
    );
    return records.flatMap((record) => readGrant(record) ?? []);
  }

  async addGrant(projectId: string, grant: Grant): Promise<void> {
    await this.#deployment.write(async () =>
      this.#deployment.mutation(api.grants.add, {
        projectId: textKey(projectId),
        rule: textKey(grant.rule),
        record: JSON.stringify(grant),
      }),
    );
  }

  async removeGrant(projectId: string, rule: string): Promise<void> {
    await this.#deployment.write(async () =>
      this.#deployment.mutation(api.grants.remove, {
        projectId: textKey(projectId),
        rule: textKey(rule),
      }),
    );
  }

  async close(): Promise<void> {}
}

function recordOf(parts: readonly string[], sessionId?: string): SessionRecord | undefined {
  return readSession(parts.join(''), sessionId);
}
