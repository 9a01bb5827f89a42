import { callKeyOf, type Grant, type Response } from '@liminal/protocol';
import type { MemoryBlobStore } from './blob-store.ts';
import type { MemoryEventArchive } from './event-archive.ts';
import { errors, StorageError } from '../../errors.ts';
import { refuseStale } from '../../store/refuse-stale.ts';
import {
  callItemsMax,
  type CallsWanted,
  type ItemPage,
  type ItemsWanted,
  type ResponseHead,
  type ResponseStore,
  type SearchHit,
  type SearchQuery,
  type SessionRecord,
  type StoredItem,
} from '../../response-store.ts';
import type { PageRun } from '../../store/item-page.ts';
import { pageOfItems } from '../../store/item-page.ts';
import { sessionIdsOf } from '../../store/session-ids.ts';
import { itemHit, titleHits } from '../../store/search-hits.ts';
import type { ParsedQuery } from '../../store/search-query.ts';
import { parseQuery } from '../../store/search-query.ts';
import { isSettled } from '../../store/searchable-text.ts';

/** Copies its inputs and outputs, so that a caller's later changes do not change the store. */
export class MemoryResponseStore implements ResponseStore {
  readonly #sessions = new Map<string, SessionRecord>();
  /** The Responses by run, in the order of their first saves. */
  readonly #responses = new Map<string, Response>();
  /** The grants by project, then by rule, in the order of adding. */
  readonly #grants = new Map<string, Map<string, Grant>>();
  readonly #blobs: MemoryBlobStore;
  readonly #eventArchive: MemoryEventArchive;
  /** Ids of deleted sessions: Liminal's ids and the agents' ids. */
  readonly #deleted: Set<string>;

  /** @param deleted - Ids of deleted sessions; the blob store shares them. */
  constructor(blobs: MemoryBlobStore, eventArchive: MemoryEventArchive, deleted: Set<string>) {
    this.#blobs = blobs;
    this.#eventArchive = eventArchive;
    this.#deleted = deleted;
  }

  async saveSession(session: SessionRecord): Promise<void> {
    if (this.#deleted.has(session.sessionId))
      throw errors.SESSION_NOT_FOUND.deleted(session.sessionId);
    refuseStale(session, this.#sessions.get(session.sessionId));
    this.#sessions.set(session.sessionId, copy(session));
  }

  async getSession(sessionId: string): Promise<SessionRecord | undefined> {
    const session = this.#sessions.get(sessionId);
    return session && copy(session);
  }

  async takeSession(sessionId: string, fence: number): Promise<SessionRecord | undefined> {
    const stored = this.#sessions.get(sessionId);
    if (stored === undefined) return undefined;
    refuseStale({ sessionId, fence }, stored);
    const taken = { ...stored, fence };
    this.#sessions.set(sessionId, taken);
    return copy(taken);
  }

  async listSessions(
    filter: { projectId?: string; active?: boolean } = {},
  ): Promise<SessionRecord[]> {
    return [...this.#sessions.values()]
      .filter(
        (session) =>
          (filter.projectId === undefined || session.projectId === filter.projectId) &&
          (filter.active === undefined || session.active === filter.active),
      )
      .toSorted((a, b) => newestFirst(a, b))
      .map(copy);
  }

  async deleteSession(sessionId: string): Promise<void> {
    const stored = this.#sessions.get(sessionId);
    if (stored) for (const id of sessionIdsOf(stored)) this.#deleted.add(id);
    this.#sessions.delete(sessionId);
    for (const response of this.#of(sessionId)) this.#responses.delete(response.id);
    this.#eventArchive.deleteSession(sessionId);
    this.#blobs.release(sessionId);
  }

  async findDeleted(ids: readonly string[]): Promise<string[]> {
    return ids.filter((id) => this.#deleted.has(id));
  }

  async saveResponse(response: Response): Promise<void> {
    await this.importResponses([response]);
  }

  async importResponses(responses: readonly Response[]): Promise<void> {
    // Copy all before the first save, because a failed copy must leave the store unchanged.
    for (const response of responses.map(copy)) {
      if (this.#deleted.has(response.sessionId)) continue;
      const stored = this.#responses.get(response.id);
      if (!stored || stored.lastSeq <= response.lastSeq) {
        this.#responses.set(response.id, response);
      }
    }
  }

  async getResponse(runId: string): Promise<Response | undefined> {
    const response = this.#responses.get(runId);
    return response && copy(response);
  }

  async listRuns(
    sessionId: string,
    options: { fromRunId?: string } = {},
  ): Promise<ResponseHead[] | undefined> {
    const responses = this.#of(sessionId);
    const { fromRunId } = options;
    const from = fromRunId === undefined ? 0 : responses.findIndex(({ id }) => id === fromRunId);
    return from === -1 ? undefined : responses.slice(from).map(headOf);
  }

  async readItems(sessionId: string, options: ItemsWanted): Promise<ItemPage> {
    const { before } = options;
    const responses = this.#of(sessionId);
    const place = before ? responses.findIndex(({ id }) => id === before.runId) : responses.length;
    const older = responses.slice(0, Math.max(0, place)).map((run) => pageRun(run, Infinity));
    const own = responses[place];
    // A run is left out if none of its items are before the position, because an earlier page has shown it.
    if (own && before && before.index > 0) older.push(pageRun(own, before.index));
    return pageOfItems(older.toReversed(), options);
  }

  async readCalls({ runId, keys, side, index: edge }: CallsWanted): Promise<StoredItem[]> {
    const items = this.#responses.get(runId)?.outputItems ?? [];
    const all = items.map((item, index) => ({ runId, index, item }));
    const there = all.filter(({ index }) => (side === 'before' ? index < edge : index >= edge));
    const nearest = keys.flatMap((key) => {
      const own = there.filter(({ item }) => callKeyOf(item) === key);
      return side === 'before' ? own.slice(-callItemsMax) : own.slice(0, callItemsMax);
    });
    return copy(nearest.toSorted((a, b) => a.index - b.index));
  }

  async search({ text, projectId, limit }: SearchQuery): Promise<SearchHit[]> {
    const query = parseQuery(text);
    if (!query) return [];
    const sessions = await this.listSessions(projectId === undefined ? {} : { projectId });
    const hits = titleHits(sessions, query);
    const within = projectId === undefined ? undefined : new Set(sessions.map(sessionIdOf));
    return [...hits.take(limit), ...this.#itemHits(query, within).take(limit)].slice(0, limit);
  }

  async listGrants(projectId: string): Promise<Grant[]> {
    return [...(this.#grants.get(projectId)?.values() ?? [])].map(copy);
  }

  async addGrant(projectId: string, grant: Grant): Promise<void> {
    const grants = this.#grants.get(projectId) ?? new Map<string, Grant>();
    if (!grants.has(grant.rule)) grants.set(grant.rule, copy(grant));
    this.#grants.set(projectId, grants);
  }

  async removeGrant(projectId: string, rule: string): Promise<void> {
    this.#grants.get(projectId)?.delete(rule);
  }

  async close(): Promise<void> {}

  /** Yields hits among items, newest first. Searches all sessions, or only the given sessions. */
  *#itemHits(query: ParsedQuery, within: ReadonlySet<string> | undefined): Generator<SearchHit> {
    for (const { id, sessionId, status, outputItems } of [
      ...this.#responses.values(),
    ].toReversed()) {
      if (within?.has(sessionId) === false) continue;
      for (const [index, item] of [...outputItems.entries()].toReversed()) {
        const stored = { runId: id, index, item };
        const hit = isSettled(item, status) ? itemHit(sessionId, stored, query) : undefined;
        if (hit) yield hit;
      }
    }
  }

  #of(sessionId: string): Response[] {
    return [...this.#responses.values()].filter((response) => response.sessionId === sessionId);
  }
}

function pageRun(response: Response, before: number): PageRun {
  return {
    head: () => headOf(response),
    count: Math.min(before, response.outputItems.length),
    sizes: (from, to) =>
      response.outputItems
        .slice(from, to)
        .toReversed()
        .values()
        .map((item) => Buffer.byteLength(JSON.stringify(item))),
    items: (from, to) =>
      response.outputItems
        .slice(from, to)
        .map((item, offset) => ({ runId: response.id, index: from + offset, item: copy(item) })),
  };
}

function headOf(response: Response): ResponseHead {
  const { outputItems: _, ...head } = response;
  return copy(head);
}

function sessionIdOf({ sessionId }: SessionRecord): string {
  return sessionId;
}

function newestFirst(a: SessionRecord, b: SessionRecord): number {
  return compare(b.updatedAt, a.updatedAt) || compare(b.createdAt, a.createdAt);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Copies a value through JSON, so that the memory contains exactly the value that a database would contain. */
function copy<T>(value: T): T {
  try {
    return JSON.parse(JSON.stringify(value)) as T;
  } catch (cause) {
    const message = `A session or Response cannot be written as JSON: ${String(cause)}`;
    throw new StorageError('STORE_WRITE_FAILED', message, { cause });
  }
}
