import { rowReader, type Tables } from './tables.ts';
import type { Transaction } from 'kysely';
import { createHash } from 'node:crypto';
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
import { releaseBlobs } from './blobs.ts';
import type { PostgresDatabase } from './database.ts';
import { findDeleted, addDeleted } from './deleted-sessions.ts';
import { listRuns, readCalls, readItems, readResponse } from './read-responses.ts';
import { lockSessions, saveResponses } from './save-responses.ts';
import { search } from './search.ts';
import { findSession, listSessions, saveSession, takeSession } from './sessions.ts';
import { sessionIdsOf } from '../store/session-ids.ts';
import { textKey } from '../store/text-key.ts';

/** A store for several servers. Each write is a transaction; the database decides the order of writes. */
export class PostgresResponseStore implements ResponseStore {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async saveSession(session: SessionRecord): Promise<void> {
    await this.#database.write(async (db) => saveSession(db, session));
  }

  async getSession(sessionId: string): Promise<SessionRecord | undefined> {
    return this.#database.read(async (db) => findSession(db, sessionId));
  }

  async takeSession(sessionId: string, fence: number): Promise<SessionRecord | undefined> {
    return this.#database.write(async (db) => takeSession(db, sessionId, fence));
  }

  async listSessions(
    filter: { projectId?: string; active?: boolean } = {},
  ): Promise<SessionRecord[]> {
    return this.#database.read(async (db) => listSessions(db, filter));
  }

  async deleteSession(sessionId: string): Promise<void> {
    await this.#database.write(async (db) => {
      await lockSessions(db, [sessionId]);
      const id = textKey(sessionId);
      const stored = await findSession(db, sessionId);
      if (stored) await addDeleted(db, sessionIdsOf(stored));
      await db.deleteFrom('sessions').where('session_id', '=', id).execute();
      await db.deleteFrom('responses').where('session_id', '=', id).execute();
      await db.deleteFrom('kept_events').where('session_id', '=', id).execute();
      await releaseBlobs(db, sessionId);
    });
  }

  async findDeleted(ids: readonly string[]): Promise<string[]> {
    return this.#database.read(async (db) => findDeleted(db, ids));
  }

  async saveResponse(response: Response): Promise<void> {
    await this.importResponses([response]);
  }

  async importResponses(responses: readonly Response[]): Promise<void> {
    await this.#database.write(async (db) => saveResponses(db, responses));
  }

  async getResponse(runId: string): Promise<Response | undefined> {
    return this.#database.read(async (db) => readResponse(db, runId));
  }

  async listRuns(
    sessionId: string,
    options: { fromRunId?: string } = {},
  ): Promise<ResponseHead[] | undefined> {
    return this.#database.read(async (db) => listRuns(db, sessionId, options.fromRunId));
  }

  async readItems(sessionId: string, options: ItemsWanted): Promise<ItemPage> {
    return this.#database.read(async (db) => readItems(db, sessionId, options));
  }

  async readCalls(wanted: CallsWanted): Promise<StoredItem[]> {
    return this.#database.read(async (db) => readCalls(db, wanted));
  }

  async search(query: SearchQuery): Promise<SearchHit[]> {
    return this.#database.read(async (db) => search(db, query));
  }

  async listGrants(projectId: string): Promise<Grant[]> {
    return this.#database.read(async (db) => listGrants(db, projectId));
  }

  async addGrant(projectId: string, grant: Grant): Promise<void> {
    await this.#database.write(async (db) => addGrant(db, projectId, grant));
  }

  async removeGrant(projectId: string, rule: string): Promise<void> {
    await this.#database.write(async (db) => removeGrant(db, projectId, rule));
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}

async function listGrants(db: Transaction<Tables>, projectId: string): Promise<Grant[]> {
  const rows = await db
    .selectFrom('grants')
    .select('record')
    .where('project_id', '=', textKey(projectId))
    .orderBy('grant_key')
    .execute();
  return rowReader.grants(rows);
}

async function addGrant(db: Transaction<Tables>, projectId: string, grant: Grant): Promise<void> {
  const hash = grantHash(projectId, grant.rule);
  await db
    .insertInto('grants')
    .values({ project_id: textKey(projectId), hash, record: JSON.stringify(grant) })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
}

async function removeGrant(
  db: Transaction<Tables>,
  projectId: string,
  rule: string,
): Promise<void> {
  await db.deleteFrom('grants').where('hash', '=', grantHash(projectId, rule)).execute();
}

function grantHash(projectId: string, rule: string): string {
  return createHash('sha256')
    .update(JSON.stringify([projectId, rule]))
    .digest('hex');
}
