import { errors } from '../errors.ts';
import { keyOf, rowReader } from './id-key.ts';
import type { StatementSync } from 'node:sqlite';
import type { Grant, Response } from '@liminal/protocol';
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
import type { PageRun } from '../store/item-page.ts';
import { pageOfItems } from '../store/item-page.ts';
import { refuseStale } from '../store/refuse-stale.ts';
import { sessionIdsOf } from '../store/session-ids.ts';
import { titleHits } from '../store/search-hits.ts';
import { parseQuery } from '../store/search-query.ts';
import type { SqliteBlobStore } from './blob-store.ts';
import type { Database } from './database.ts';
import { DeletedSessions } from './deleted-sessions.ts';
import { SqliteEventArchive } from './event-archive.ts';
import { ItemSearch } from './item-search.ts';
import { yieldToEventLoop } from '../yield-to-event-loop.ts';
import type { EncodedResponse, ResponseRow } from './response-table.ts';
import { encodeResponse, partEnds, ResponseTable } from './response-table.ts';
import { SessionTable } from './session-table.ts';

/** Sessions, Responses and items in separate tables, so that a page of items reads only those items. */
export class SqliteResponseStore implements ResponseStore {
  readonly #database: Database;
  readonly #sessions: SessionTable;
  readonly #deleted: DeletedSessions;
  readonly #responses: ResponseTable;
  readonly #search: ItemSearch;
  readonly #grants: GrantTable;
  readonly #blobs: SqliteBlobStore;
  readonly #eventArchive: SqliteEventArchive;

  constructor(database: Database, blobs: SqliteBlobStore) {
    this.#database = database;
    this.#blobs = blobs;
    this.#eventArchive = new SqliteEventArchive(database);
    this.#sessions = new SessionTable(database);
    this.#deleted = new DeletedSessions(database);
    this.#responses = new ResponseTable(database);
    this.#search = new ItemSearch(database);
    this.#grants = new GrantTable(database);
  }

  async saveSession(session: SessionRecord): Promise<void> {
    await this.#database.writeInTurn('STORE_WRITE_FAILED', () => {
      // Checking before the save is enough, because no other process writes to this database.
      if (this.#deleted.has(session.sessionId))
        throw errors.SESSION_NOT_FOUND.deleted(session.sessionId);
      refuseStale(session, { fence: this.#sessions.fenceOf(session.sessionId) });
      this.#sessions.save(session);
    });
  }

  async getSession(sessionId: string): Promise<SessionRecord | undefined> {
    return this.#database.read(() => this.#sessions.find(sessionId));
  }

  async takeSession(sessionId: string, fence: number): Promise<SessionRecord | undefined> {
    const stored = await this.getSession(sessionId);
    if (stored === undefined) return undefined;
    const taken = { ...stored, fence };
    await this.saveSession(taken);
    return taken;
  }

  async listSessions(
    filter: { projectId?: string; active?: boolean } = {},
  ): Promise<SessionRecord[]> {
    return this.#database.read(() => this.#sessions.list(filter));
  }

  async deleteSession(sessionId: string): Promise<void> {
    const unneeded = await this.#database.writeInTurn('STORE_WRITE_FAILED', () => {
      const stored = this.#sessions.find(sessionId);
      if (stored) for (const id of sessionIdsOf(stored)) this.#deleted.add(id);
      this.#sessions.delete(sessionId);
      this.#responses.deleteSession(sessionId);
      this.#eventArchive.deleteSession(sessionId);
      return this.#blobs.release(sessionId);
    });
    await this.#blobs.clear(unneeded);
  }

  async findDeleted(ids: readonly string[]): Promise<string[]> {
    return this.#database.read(() => ids.filter((id) => this.#deleted.has(id)));
  }

  /**
   * Saves a large Response in parts; other work runs between two parts. After a failure, the caller must save the
   * Response again.
   */
  async saveResponse(response: Response): Promise<void> {
    const encoded = await encodeResponse(response);
    const parts = partEnds(encoded);
    let from = 0;
    for (const to of parts) {
      await this.#database.writeInTurn('STORE_WRITE_FAILED', () => {
        this.#save(encoded, from, to);
      });
      if (parts.length > 1) await yieldToEventLoop();
      from = to;
    }
  }

  async importResponses(responses: readonly Response[]): Promise<void> {
    const encoded: EncodedResponse[] = [];
    for (const response of responses) encoded.push(await encodeResponse(response));
    await this.#database.writeInTurn('STORE_WRITE_FAILED', () => {
      for (const response of encoded) this.#save(response);
    });
  }

  async getResponse(runId: string): Promise<Response | undefined> {
    return this.#database.read(() => {
      const row = this.#responses.find(runId);
      if (!row) return undefined;
      const items = this.#responses.items(row, 0, row.item_count);
      return { ...rowReader.head(row), outputItems: items.map(({ item }) => item) };
    });
  }

  async listRuns(
    sessionId: string,
    options: { fromRunId?: string } = {},
  ): Promise<ResponseHead[] | undefined> {
    const { fromRunId } = options;
    return this.#database.read(() => {
      const fromKey = fromRunId === undefined ? 0 : this.#find(sessionId, fromRunId)?.response_key;
      if (fromKey === undefined) return undefined;
      return this.#responses.oldestFirst(sessionId, fromKey).map((row) => rowReader.head(row));
    });
  }

  async readItems(sessionId: string, options: ItemsWanted): Promise<ItemPage> {
    const { before } = options;
    const maxKey = Number.MAX_SAFE_INTEGER;
    return this.#database.read(() => {
      if (!before) return pageOfItems(this.#runsBefore(sessionId, maxKey), options);
      const row = this.#find(sessionId, before.runId);
      if (!row) return { items: [], heads: [], hasMore: false };
      return pageOfItems(this.#runsBefore(sessionId, row.response_key, before.index), options);
    });
  }

  async readCalls(wanted: CallsWanted): Promise<StoredItem[]> {
    return this.#database.read(() => {
      const row = this.#responses.find(wanted.runId);
      return row ? this.#responses.calls(row, wanted) : [];
    });
  }

  async search({ text, projectId, limit }: SearchQuery): Promise<SearchHit[]> {
    const query = parseQuery(text);
    if (!query) return [];
    return this.#database.read(() => {
      const sessions = this.#sessions.list(projectId === undefined ? {} : { projectId });
      const titles = titleHits(sessions, query).take(limit).toArray();
      const items = this.#search.hits(query, projectId).take(limit - titles.length);
      return [...titles, ...items];
    });
  }

  async listGrants(projectId: string): Promise<Grant[]> {
    return this.#database.read(() => this.#grants.list(projectId));
  }

  async addGrant(projectId: string, grant: Grant): Promise<void> {
    await this.#database.writeInTurn('STORE_WRITE_FAILED', () =>
      this.#grants.add(projectId, grant),
    );
  }

  async removeGrant(projectId: string, rule: string): Promise<void> {
    await this.#database.writeInTurn('STORE_WRITE_FAILED', () =>
      this.#grants.remove(projectId, rule),
    );
  }

  async close(): Promise<void> {}

  #save(encoded: EncodedResponse, from?: number, to?: number): void {
    if (!this.#deleted.has(encoded.response.sessionId)) this.#responses.save(encoded, from, to);
  }

  #find(sessionId: string, runId: string): ResponseRow | undefined {
    const row = this.#responses.find(runId);
    return row?.session_id === keyOf(sessionId) ? row : undefined;
  }

  /**
   * Yields a session's runs up to the run with `key`, newest first. Of the run with `key`, only the items before
   * `index` count.
   */
  *#runsBefore(sessionId: string, key: number, index = Infinity): Generator<PageRun> {
    for (const row of this.#responses.newestFirst(sessionId, key)) {
      const count = row.response_key === key ? Math.min(index, row.item_count) : row.item_count;
      // A run is left out if none of its items are before the position, because an earlier page has shown it.
      if (row.response_key === key && index <= 0) continue;
      yield {
        head: () => rowReader.head(row),
        count,
        items: (from, to) => this.#responses.items(row, from, to),
        sizes: (from, to) => this.#responses.sizes(row, from, to),
      };
    }
  }
}

/** The table of grants and its statements. The caller wraps writes in a transaction. */
class GrantTable {
  readonly #list: StatementSync;
  readonly #add: StatementSync;
  readonly #remove: StatementSync;

  constructor(database: Database) {
    this.#list = database.prepare(
      'SELECT record FROM grants WHERE project_id = ? ORDER BY grant_key',
    );
    this.#add = database.prepare(
      'INSERT OR IGNORE INTO grants (project_id, rule, record) VALUES (?, ?, ?)',
    );
    this.#remove = database.prepare('DELETE FROM grants WHERE project_id = ? AND rule = ?');
  }

  list(projectId: string): Grant[] {
    return rowReader.grants(this.#list.all(keyOf(projectId)) as unknown[] as { record: string }[]);
  }

  add(projectId: string, grant: Grant): void {
    this.#add.run(keyOf(projectId), keyOf(grant.rule), JSON.stringify(grant));
  }

  remove(projectId: string, rule: string): void {
    this.#remove.run(keyOf(projectId), keyOf(rule));
  }
}
