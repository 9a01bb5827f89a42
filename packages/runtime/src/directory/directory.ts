import { randomUUID } from 'node:crypto';
import type { AgentDriver, DriverRegistry } from '@liminal/agents';
import type { CreateSessionBody, FileResult, McpServers, SessionSummary } from '@liminal/protocol';
import { sessionIdsOf, type ResponseStore, type SessionRecord } from '@liminal/storage';
import { errors } from '../errors.ts';
import { BlobKeeper } from '../blobs/index.ts';
import { readProjectFile } from '../files/index.ts';
import type { AgentStores } from './agent-stores.ts';
import type { FoundSession } from './listed-sessions.ts';
import { forkSession } from './fork-session.ts';
import { summarizeFound } from './projects.ts';
import {
  type AgentReport,
  assertSupports,
  importConversation,
  type NewRecord,
  newRecord,
  readLastKnown,
  Session,
  type SessionOptions,
  type SessionListSubscribers,
  summarize,
} from '../session/index.ts';
import { SessionPlaces } from './session-places.ts';

interface DirectoryOptions extends Omit<SessionOptions, 'record' | 'driver' | 'held'> {
  drivers: DriverRegistry;
  agentStores: AgentStores;
  listSubscribers: SessionListSubscribers;
  /** A session's summary has changed. */
  onChange: (session: Session) => void;
}

/** The sessions: in memory, in the store, and in the agents' own stores. */
export class Directory {
  readonly #options: DirectoryOptions;
  /** Sessions in memory; a promise while a session is being opened, so that two callers share it. */
  readonly #open = new Map<string, Promise<Session>>();
  readonly #places: SessionPlaces;
  /** Forks in progress, by the new session's id. */
  readonly #forking = new Map<string, Promise<SessionRecord>>();
  /**
   * Ids of sessions (Liminal's and the agents' own) that were deleted since this server started: lists that were read
   * before the deletion may still contain these ids.
   */
  readonly #deleted = new Set<string>();

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#places = new SessionPlaces({
      max: options.settings.maxSessions,
      stored: async () =>
        (await options.store.listSessions({ active: true })).map(({ sessionId }) => sessionId),
    });
  }

  /**
   * Throws `UNSUPPORTED_CLI_TYPE`, `PROJECT_DIR_…`, `TOO_MANY_SESSIONS`, or the error that keeps the agent from
   * starting.
   */
  async create(
    request: CreateSessionBody,
    owned: Pick<SessionRecord, 'sessionId' | 'fence'> = { sessionId: randomUUID(), fence: 0 },
  ): Promise<Session> {
    const { drivers, roots, now } = this.#options;
    const driver = drivers.get(request.cliType);
    const projectDir = await roots.admit(request.projectDir);
    const asked = request.additionalDirectories ?? [];
    if (asked.length > 0) assertSupports(driver, 'setDirectories');
    const additionalDirectories = await roots.admitAdditional(projectDir, asked);
    const time = new Date(now()).toISOString();
    const record = newRecord({
      ...owned,
      cliType: driver.cliType,
      projectId: request.projectId ?? projectDir,
      projectDir,
      ...(additionalDirectories.length > 0 && { additionalDirectories }),
      title: '',
      createdAt: time,
      updatedAt: time,
      config: configOf(request.options),
    });
    return this.#places.fill(owned.sessionId, async () =>
      this.#start(this.#make(record, driver), request.mcpServers),
    );
  }

  /**
   * Creates a session from another session's conversation up to the end of a turn, by default the last finished turn.
   * Repeated calls with the same id create one session. Throws `TURN_…`, `SESSION_ID_TAKEN`, `NOT_SUPPORTED`,
   * `TOO_MANY_SESSIONS`, `PROJECT_DIR_…`.
   */
  async fork(
    original: SessionRecord,
    sessionId: string,
    turnId: string | undefined,
  ): Promise<SessionRecord> {
    const making = this.#forking.get(sessionId) ?? this.#fork(original, sessionId, turnId);
    this.#forking.set(sessionId, making);
    return making.finally(() => this.#forking.delete(sessionId));
  }

  async #fork(
    original: SessionRecord,
    sessionId: string,
    turnId: string | undefined,
  ): Promise<SessionRecord> {
    const { roots, drivers, now } = this.#options;
    const made = await this.#store.getSession(sessionId);
    if (made?.forkedFrom?.sessionId === original.sessionId) return made;
    if (made) {
      throw errors.SESSION_ID_TAKEN.taken(sessionId);
    }
    await roots.admit(original.projectDir);
    const driver = drivers.of(original.cliType);
    const iso = (): string => new Date(now()).toISOString();
    const confirmOwned = async (): Promise<void> => this.#confirmOwned(original.sessionId);
    return this.#places.fill(sessionId, async () =>
      forkSession({ ...this.#options, original, sessionId, turnId, driver, iso, confirmOwned }),
    );
  }

  /** Returns Liminal's id of a session, given Liminal's or the agent's id. Returns an unknown id unchanged. */
  async idOf(name: string): Promise<string> {
    if (await this.#store.getSession(name)) return name;
    const records = await this.#store.listSessions();
    return records.find(({ agentSessionId }) => agentSessionId === name)?.sessionId ?? name;
  }

  /** Whether an agent's own store has a session of this id. */
  async isFound(sessionId: string): Promise<boolean> {
    return (await this.#options.agentStores.find(sessionId)) !== undefined;
  }

  /** Throws `SESSION_NOT_FOUND` or `STALE_OWNER`. */
  async get(sessionId: string): Promise<Session> {
    const session = await this.find(sessionId);
    if (session) return session;
    throw errors.SESSION_NOT_FOUND.notHere(sessionId);
  }

  /** Removes a session from memory after its agent was stopped, so that another server may take it. */
  async release(session: Session): Promise<void> {
    await session.close();
    this.#open.delete(session.sessionId);
  }

  /** Removes a session from memory at once, if nothing is left to store: the next caller gets it from the store. */
  forget(session: Session): void {
    this.#open.delete(session.sessionId);
    void session.close();
  }

  async find(sessionId: string): Promise<Session | undefined> {
    const known = this.#open.get(sessionId);
    if (known) return known;
    const record = await this.#store.getSession(sessionId);
    // Another caller may have opened the session while its record was being read, or deleted it.
    const opened = this.#open.get(sessionId);
    if (opened || !record || this.#deleted.has(sessionId)) return opened;
    this.#assertOwned(record);
    return this.#opening(sessionId, async () => this.#reopen(record));
  }

  /** Takes over a session that only an agent's own store has, with its history. */
  async adopt(sessionId: string, fence: number): Promise<Session> {
    return this.#opening(sessionId, async () => this.#import(sessionId, fence));
  }

  /**
   * Finds a session as `find` does. For a session that exists only in an agent's own store, stores a record, without
   * reading the session's history yet.
   */
  async findOrStore(sessionId: string, fence: number): Promise<Session> {
    const session = await this.find(sessionId);
    return session ?? this.#opening(sessionId, async () => this.#storeFound(sessionId, fence));
  }

  /** Reads the history of a session for which only a record was stored. Throws `PROJECT_DIR_…`. */
  async importHistory(session: Session): Promise<void> {
    if (session.record.imported) return;
    const { cliType, sessionId, projectDir } = session.record;
    const { runs } = await this.#storedRuns({ cliType, sessionId, projectDir });
    await this.#store.importResponses(runs);
    await session.historyImported(runs);
  }

  /**
   * Deletes a session and its stored data. A repeated call deletes any data that the first call left. Throws
   * `SESSION_NOT_FOUND`, `STALE_OWNER`.
   */
  async delete(sessionId: string, fence: number): Promise<void> {
    const { log, store, listSubscribers } = this.#options;
    const [before] = await store.findDeleted([sessionId]);
    if (before === undefined) await this.#delete(await this.findOrStore(sessionId, fence));
    else await store.deleteSession(sessionId);
    for (const run of await log.unsettled()) {
      if (run.sessionId === sessionId) await log.settle(run.runId);
    }
    listSubscribers.publish([], [sessionId]);
  }

  /** Removes from memory a session that another server has deleted. */
  async dropDeleted(sessionId: string): Promise<void> {
    this.#deleted.add(sessionId);
    const session = await this.#open.get(sessionId)?.catch(() => undefined);
    if (session) await this.#close(session);
  }

  /** All sessions, including those of agents' own stores that answer soon. */
  async summaries(): Promise<SessionSummary[]> {
    const found = await this.#options.agentStores.list();
    return [...(await this.ownSummaries()), ...(await this.#summarizeFound(found))];
  }

  async ownSummaries(): Promise<SessionSummary[]> {
    return this.#summarizeAll(await this.#store.listSessions());
  }

  /** Calls back with the sessions that only an agent's own store has, store by store, as soon as each store is read. */
  eachFound(
    onFound: (sessions: SessionSummary[]) => void,
    onTrouble: (error: unknown) => void,
  ): void {
    this.#options.agentStores.each((found) => {
      this.#summarizeFound(found).then(onFound).catch(onTrouble);
    });
  }

  async #summarizeFound(found: readonly FoundSession[]): Promise<SessionSummary[]> {
    const records = await this.#store.listSessions();
    const known = new Set(records.flatMap(sessionIdsOf));
    const others = found.filter(({ sessionId }) => !known.has(sessionId));
    const deleted = new Set(
      await this.#store.findDeleted(others.map(({ sessionId }) => sessionId)),
    );
    return others
      .filter(({ sessionId }) => !deleted.has(sessionId) && !this.#deleted.has(sessionId))
      .map(summarizeFound);
  }

  /** Lists a project's sessions: Liminal's open sessions, and sessions that exist only in an agent's own store. */
  async projectSummaries(projectId: string): Promise<SessionSummary[]> {
    const own = await this.#summarizeAll(
      await this.#store.listSessions({ projectId, active: true }),
    );
    const found = await this.#summarizeFound(await this.#options.agentStores.list());
    return [...own, ...found.filter((session) => session.projectId === projectId)];
  }

  /** Asks an agent for the sessions in its own store, and starts the agent if needed. */
  async requestSessions(cliType: string): Promise<SessionSummary[]> {
    const { drivers, agentStores, listSubscribers } = this.#options;
    const sessions = await this.#summarizeFound(
      await agentStores.requestSessions(drivers.get(cliType)),
    );
    listSubscribers.publish(sessions);
    return sessions;
  }

  /** Asks an agent that is already running for the sessions in its own store. */
  refreshAgentSessions(cliType: string): void {
    const { drivers, agentStores, listSubscribers, logger } = this.#options;
    agentStores.refresh(drivers.get(cliType), (found) => {
      this.#summarizeFound(found)
        .then((sessions) => listSubscribers.publish(sessions))
        .catch((error: unknown) => logger.warn({ error }, 'sessions cannot be listed'));
    });
  }

  /** Reads a file for any stored session; this server need not own the session. */
  async readFile(sessionId: string, path: string): Promise<FileResult> {
    const { projectDir, cliType, agentSessionId = sessionId } = await this.#withFiles(sessionId);
    const { roots, drivers } = this.#options;
    const driver = drivers.list().find((one) => one.cliType === cliType);
    const isOutput = (real: string) => driver?.isTaskOutput?.(agentSessionId, real) === true;
    return readProjectFile(path, {
      projectDir,
      roots: {
        holds: (real) => roots.holds(real) || isOutput(real),
        hides: (real) => roots.hides(real),
        hidesFile: async (found) => roots.hidesFile(found),
      },
    });
  }

  /** Returns the project folder of any stored session whose files are on this machine. Throws `FILE_NOT_ALLOWED`. */
  async projectDir(sessionId: string): Promise<string> {
    return (await this.#withFiles(sessionId)).projectDir;
  }

  async #withFiles(sessionId: string): Promise<SessionRecord> {
    const record = await this.#store.getSession(sessionId);
    if (!record) throw errors.SESSION_NOT_FOUND.unknown(sessionId);
    if (record.importedFrom) {
      throw errors.FILE_NOT_ALLOWED.imported();
    }
    return record;
  }

  async inMemory(): Promise<Session[]> {
    const settled = await Promise.allSettled(this.#open.values());
    return settled.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  }

  get #store(): ResponseStore {
    return this.#options.store;
  }

  /**
   * Throws if this server no longer has the lease under which the session's record was written: another server may have
   * stored the session in the meantime.
   */
  #assertOwned({ sessionId, fence }: SessionRecord): void {
    const { cluster } = this.#options;
    if (!cluster || cluster.fenceOf(sessionId) === fence) return;
    throw errors.STALE_OWNER.taken(sessionId);
  }

  async #start(session: Session, mcpServers: McpServers = {}): Promise<Session> {
    session.addMcpServers(mcpServers);
    await session.create();
    this.#open.set(session.sessionId, Promise.resolve(session));
    this.#options.onChange(session);
    return session;
  }

  async #reopen(record: SessionRecord): Promise<Session> {
    const { blobs, drivers, now } = this.#options;
    const lastKnown = await readLastKnown(blobs, record, now());
    return this.#make(record, drivers.of(record.cliType), lastKnown);
  }

  async #import(sessionId: string, fence: number): Promise<Session> {
    const found = await this.#findInStores(sessionId);
    const { runs, projectDir } = await this.#storedRuns(found);
    const record = newRecord({ ...foundRecord(found), fence, projectDir, projectId: projectDir });
    await this.#store.saveSession(record);
    await this.#store.importResponses(runs);
    return this.#make(record, this.#options.drivers.get(found.cliType));
  }

  async #storeFound(sessionId: string, fence: number): Promise<Session> {
    const found = await this.#findInStores(sessionId);
    const base = newRecord({ ...foundRecord(found), fence });
    const record = { ...base, active: false, imported: false };
    await this.#store.saveSession(record);
    return this.#make(record, this.#options.drivers.of(found.cliType));
  }

  async #findInStores(sessionId: string): Promise<FoundSession> {
    const found = await this.#options.agentStores.find(sessionId);
    const [deleted] = await this.#store.findDeleted([sessionId]);
    if (found && deleted === undefined) return found;
    throw errors.SESSION_NOT_FOUND.nowhere(sessionId);
  }

  /** Returns a session's turns in its agent's own store, with their bytes in the blob store. Throws `PROJECT_DIR_…`. */
  async #storedRuns(session: Pick<FoundSession, 'cliType' | 'sessionId' | 'projectDir'>) {
    const { drivers, roots, blobs } = this.#options;
    const { sessionId, cliType } = session;
    const projectDir = await roots.admit(session.projectDir);
    const driver = drivers.get(cliType);
    const stored = (await driver.readStoredHistory?.(sessionId, projectDir)) ?? [];
    const runs = await new BlobKeeper(blobs, sessionId).storeRuns(
      importConversation(sessionId, stored),
    );
    return { runs, projectDir };
  }

  /** Remembers a session that is being opened, so that two callers share it. */
  async #opening(sessionId: string, open: () => Promise<Session>): Promise<Session> {
    const opening = this.#open.get(sessionId) ?? open();
    this.#open.set(sessionId, opening);
    opening.catch(() => this.#open.delete(sessionId));
    return opening;
  }

  /**
   * Ends the session's agent, then deletes the session. If the store rejects the deletion, the session stays, without
   * its agent.
   */
  async #delete(session: Session): Promise<void> {
    const { sessionId } = session;
    try {
      await session.end();
      await this.#confirmOwned(sessionId);
      await this.#store.deleteSession(sessionId);
    } catch (error) {
      await this.release(session);
      throw error;
    }
    await this.#close(session);
  }

  /** Throws `STALE_OWNER` if another server may have taken the session. */
  async #confirmOwned(sessionId: string): Promise<void> {
    if ((await this.#options.cluster?.owns(sessionId)) === false)
      throw errors.STALE_OWNER.taken(sessionId);
  }

  /** Removes a deleted session from memory. */
  async #close(session: Session): Promise<void> {
    for (const id of sessionIdsOf(session.record)) this.#deleted.add(id);
    this.#open.delete(session.record.sessionId);
    await session.deleted();
    await session.close();
  }

  #make(record: SessionRecord, driver: AgentDriver, lastKnown?: AgentReport): Session {
    const { onChange, ...options } = this.#options;
    const held = options.drivers.session(driver, record.sessionId);
    return new Session({ ...options, record, driver, held, lastKnown }, onChange);
  }

  async #summarizeAll(records: readonly SessionRecord[]): Promise<SessionSummary[]> {
    const ids = records.map(({ sessionId }) => sessionId);
    const others = await this.#options.cluster?.summaries(ids);
    const present = records.filter(({ sessionId }) => !this.#deleted.has(sessionId));
    return Promise.all(
      present.map(async (record) => {
        const session = await this.#open.get(record.sessionId);
        return session?.summary ?? others?.get(record.sessionId) ?? summarize(record);
      }),
    );
  }
}

/** Returns the record of a session that an agent's own store has. */
function foundRecord(found: FoundSession): Omit<NewRecord, 'fence'> {
  const { sessionId, cliType, title, createdAt, updatedAt, projectDir } = found;
  const times = { createdAt, updatedAt };
  return { sessionId, cliType, title, ...times, projectDir, projectId: projectDir, config: {} };
}

/** The config options in a session's start options: `{configOptions: {id: value}}`. */
function configOf(options: Record<string, unknown> | undefined): Record<string, string> {
  const chosen = options?.['configOptions'];
  if (typeof chosen !== 'object' || chosen === null) return {};
  const pairs: [string, unknown][] = Object.entries(chosen);
  return Object.fromEntries(
    pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}
