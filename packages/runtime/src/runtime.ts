import { randomUUID } from 'node:crypto';
import { agentProcesses, type DriverRegistry } from '@liminal/agents';
import type {
  AgentInfo,
  CommandName,
  CreateSessionBody,
  FilesResult,
  Grant,
  HistoryPage,
  ImportResult,
  Project,
  Response,
  SearchResult,
  SessionDiff,
  SessionHandle,
  SessionInfo,
  SessionStatusResult,
  SessionSummary,
  UploadedBlob,
} from '@liminal/protocol';
import type {
  BlobStore,
  EventLog,
  OpenedStorage,
  ResponseStore,
  SearchQuery,
  StoredBlob,
} from '@liminal/storage';
import {
  type AttachedClient,
  type FollowRunOptions,
  perform,
  type RunFeed,
  type Runtime,
  type RuntimeGauges,
  type RuntimeMetrics,
  type SessionsChange,
  type Sink,
  type SubscribeOptions,
  type Subscription,
} from './api.ts';
import {
  type CommandRequest,
  isRuntimeCommand,
  refusedOnce,
  type RuntimeCommands,
} from './commands.ts';
import { followRun, subscribeWhenFound, loadRun } from './subscribers/index.ts';
import {
  AttachedClients,
  type Cluster,
  SessionCache,
  IdleProcesses,
  type Session,
  SessionListSubscribers,
  summarize,
} from './session/index.ts';
import {
  AgentStores,
  describeAgent,
  Directory,
  groupByProject,
  type SessionListStorage,
  projectFolders,
  searchHistory,
} from './directory/index.ts';
import { putBlob, sweepUploads } from './blobs/index.ts';
import { errors, errorCode, errorMessage } from './errors.ts';
import { exportSession, importSession } from './exports/index.ts';
import { FileFinder } from './files/index.ts';
import { WorkTreeDiffs } from './git/index.ts';
import { hasBegun, type PageOptions } from './history/index.ts';
import { Readiness } from './readiness.ts';
import { enabledArchive } from './enabled-archive.ts';
import { Roots } from './roots.ts';
import type { Meter } from './meter.ts';
import type { Logger, RuntimeSettings } from './settings.ts';
import { defaultSettings } from './settings.ts';
import { DeltaPace } from './turn/index.ts';
import { tracedLog, tracedStore, type Tracing } from './tracing/index.ts';
import { retry } from './retry.ts';

/** Delay before the session list is read again after a failure, in ms. */
const listAgainMs = 1_000;

export interface RuntimeOptions {
  /** With `coordination`, other servers may use the same storage at the same time. */
  storage: Pick<OpenedStorage, 'log' | 'store' | 'blobs' | 'eventArchive' | 'coordination'>;
  drivers: DriverRegistry;
  /** The folders below which project folders must be. */
  roots: readonly string[];
  /** Folders whose files are never shown, even below a root: Liminal's own folders, with its token. */
  hiddenFolders?: readonly string[];
  logger: Logger;
  settings?: Partial<RuntimeSettings>;
  /** Without a meter, nothing is counted. */
  meter?: Meter | undefined;
  /** Secrets of this server, which are removed from exports. */
  secrets?: Iterable<string>;
  /** Stores the sessions that agents list in their own stores, across restarts. */
  sessionListStorage?: SessionListStorage;
  /** Receives spans; without it, nothing is traced. */
  tracing?: Tracing;
  /**
   * Ends all agents of this server at the given time, unless this function is called again before that time. This works
   * even while the server is suspended, because another server may own its sessions after that time. The time is in ms
   * on the clock of `os.uptime()`; undefined means never. Called only in a cluster.
   */
  endAgentsAt?: (atMs: number | undefined) => void;
  /** The current time in ms since the epoch. */
  now?: () => number;
}

/** The sessions of one server. `run` runs the commands. */
export class SessionRuntime implements Omit<Runtime, CommandName> {
  readonly #log: EventLog;
  readonly #store: ResponseStore;
  readonly #blobs: BlobStore;
  readonly #storage: RuntimeOptions['storage'];
  readonly #secrets: readonly string[];
  readonly #now: () => number;
  /** The ids of sessions that are being imported from files. */
  readonly #importing = new Set<string>();
  readonly #stopSweeping: () => void;
  readonly #drivers: DriverRegistry;
  readonly #logger: Logger;
  readonly #roots: Roots;
  readonly #files: FileFinder;
  readonly #diffs: WorkTreeDiffs;
  readonly sessions: Directory;
  readonly listFolders: Runtime['listFolders'] = async (prefix) => this.#roots.complete(prefix);
  readonly readFile: Runtime['readFile'] = async (...asked) => this.sessions.readFile(...asked);
  readonly #idle: IdleProcesses;
  readonly #cache: SessionCache;
  /** Set only in a cluster. */
  readonly #cluster: Cluster | undefined;
  readonly #listSubscribers = new SessionListSubscribers();
  readonly #clients = new AttachedClients();
  readonly #readiness: Readiness;
  /** Set once the server begins no new turns; resolves when no turn is running. */
  #finished: PromiseWithResolvers<void> | undefined;
  #closed = false;

  /** @param cluster - Set if other servers share the storage. */
  constructor(options: RuntimeOptions, roots: Roots, now: () => number, cluster?: Cluster) {
    const { drivers, logger, tracing } = options;
    const storage = {
      ...options.storage,
      log: tracedLog(options.storage.log, tracing),
      store: tracedStore(options.storage.store, tracing),
    };
    const settings = { ...defaultSettings, ...options.settings };
    this.#log = storage.log;
    this.#store = storage.store;
    this.#blobs = storage.blobs;
    this.#storage = storage;
    this.#secrets = [...(options.secrets ?? [])];
    this.#now = now;
    this.#stopSweeping = sweepUploads(storage.blobs, (error) => {
      if (!this.#closed) this.#warn(error, 'old uploads could not be removed');
    });
    const ask = async () => storage.store.getSession('');
    const leases = storage.coordination?.leases;
    this.#readiness = new Readiness([
      { name: 'The database', ask },
      ...(leases ? [{ name: 'Redis', ask: async () => leases.holders(['readiness']) }] : []),
    ]);
    this.#drivers = drivers;
    this.#logger = logger;
    this.#roots = roots;
    this.#files = new FileFinder(roots);
    this.#diffs = new WorkTreeDiffs(roots);
    this.#cluster = cluster;
    this.#idle = new IdleProcesses(settings.maxIdleProcesses);
    this.sessions = new Directory({
      ...storage,
      ...enabledArchive(storage, settings),
      drivers,
      roots,
      settings,
      pace: new DeltaPace(settings.cadenceMs),
      logger,
      now,
      agentStores: new AgentStores({
        registry: drivers,
        folders: async () => projectFolders(await this.#store.listSessions()),
        ...(options.sessionListStorage && { storage: options.sessionListStorage }),
        now,
        onTrouble: (cliType, error) => {
          if (!this.#closed) this.#warn(error, `sessions of ${cliType} cannot be listed`);
        },
      }),
      onChange: (session) => this.#changed(session),
      serverEnds: () => this.isEnding,
      listSubscribers: this.#listSubscribers,
      clients: this.#clients,
      meter: options.meter,
      ...(cluster && { cluster }),
      ...(tracing && { tracing }),
    });
    this.#cache = new SessionCache({
      get: async (sessionId) => this.sessions.get(sessionId),
      // In a cluster, only the session's owner may forget a session, when it releases the session.
      forget: (session) => {
        if (!cluster) this.sessions.forget(session);
      },
    });
  }

  /** Runs a command. Rejects with the command's error, or with `SHUTTING_DOWN`. */
  async run({ command, sessionId, args }: CommandRequest): Promise<unknown> {
    const refused = refusedOnce[command];
    if (refused === undefined) this.#assertTakesTurns();
    else if (refused === 'closed') this.#assertOpen();
    if (isRuntimeCommand(command)) return perform(this.#commands, command, [sessionId, ...args]);
    return this.#cache.use(sessionId, async (session) => perform(session, command, args));
  }

  /** The commands that need more than their session. */
  readonly #commands: RuntimeCommands = {
    loadSession: async (sessionId, { mcpServers = {}, additionalDirectories: add = [] } = {}) => {
      const fence = this.#cluster?.fenceOf(sessionId) ?? 0;
      if (!(await this.sessions.find(sessionId))) await this.sessions.adopt(sessionId, fence);
      return this.#cache.use(sessionId, async (session) => {
        if (session.record.importedFrom) return handle(session);
        await this.#roots.admit(session.record.projectDir);
        await this.sessions.importHistory(session);
        session.addMcpServers(mcpServers);
        if (add.length > 0) await session.changeDirectories({ add });
        await session.open();
        return handle(session);
      });
    },
    send: async (sessionId, message, turnId, extras) =>
      this.#cache.use(sessionId, async (session) => {
        const storage = { log: this.#log, store: this.#store };
        await this.sessions.importHistory(session);
        const isBegun = turnId !== undefined && (await hasBegun(storage, session.record, turnId));
        if (isBegun) return { turnId, queued: false };
        this.#assertTakesTurns();
        return session.send(message, turnId, extras);
      }),
    notify: async (name, which) => {
      const sessionId = await this.sessions.idOf(name);
      return this.#cache.use(sessionId, async (session) => session.notify(which));
    },
    fork: async (sessionId, { turnId, sessionId: forkId = randomUUID() } = {}) =>
      this.#cache.use(sessionId, async (session) => {
        session.assertCanContinue();
        await this.sessions.importHistory(session);
        const made = await this.sessions.fork(session.record, forkId, turnId);
        this.publishSessions([summarize(made)]);
        return { sessionId: forkId, cliType: made.cliType };
      }),
    archive: async (sessionId) => this.#mark(sessionId, { archived: true }),
    unarchive: async (sessionId) => this.#mark(sessionId, { archived: false }),
    pin: async (sessionId) => this.#mark(sessionId, { pinned: true }),
    unpin: async (sessionId) => this.#mark(sessionId, { pinned: false }),
    deleteSession: async (sessionId) =>
      this.sessions.delete(sessionId, this.#cluster?.fenceOf(sessionId) ?? 0),
  };

  /** Resumes turns that waited for a user when the previous owner ended; errors are only logged. */
  async resume(sessionId: string): Promise<void> {
    await this.#cache
      .use(sessionId, async (session) => session.resume())
      .catch((error: unknown) =>
        this.#warn(error, `session ${sessionId} could not be resumed yet`),
      );
  }

  async metrics(): Promise<RuntimeMetrics> {
    const runs = await this.#log.unsettled();
    const backlogRuns = runs.filter(({ ended }) => ended).length;
    return { openRuns: runs.length - backlogRuns, backlogRuns, lagEvents: 0 };
  }

  async gauges(): Promise<RuntimeGauges> {
    const [sessions, agents] = await Promise.all([this.sessions.inMemory(), agentProcesses()]);
    const sum = (count: (session: Session) => number): number =>
      sessions.reduce((total, session) => total + count(session), 0);
    return {
      turns: sum(({ turnId }) => (turnId === undefined ? 0 : 1)),
      queuedMessages: sum(({ record }) => record.queue.length),
      approvalsWaiting: sum(({ approvalsWaiting }) => approvalsWaiting),
      subscribers: sum(({ localSubscribers }) => localSubscribers.counts.all),
      slowSubscribers: sum(({ localSubscribers }) => localSubscribers.counts.slow),
      agents,
    };
  }

  async troubles(): Promise<string[]> {
    return this.isEnding ? ['The server is shutting down.'] : this.#readiness.troubles();
  }

  async listAgents(): Promise<AgentInfo[]> {
    return Promise.all(this.#drivers.list().map(describeAgent));
  }

  async findSessions(cliType: string): Promise<SessionSummary[]> {
    this.#assertOpen();
    return this.sessions.requestSessions(cliType);
  }

  async listProjects(): Promise<Project[]> {
    return groupByProject(await this.sessions.summaries());
  }

  /**
   * @param owned - The session's id, and the fencing token of the lease under which the session is created; if
   * undefined, the session gets a new id.
   */
  async createSession(
    request: CreateSessionBody,
    owned?: { sessionId: string; fence: number },
  ): Promise<SessionHandle> {
    this.#assertTakesTurns();
    return handle(await this.sessions.create(request, owned));
  }

  async listSessions(projectId = ''): Promise<SessionSummary[]> {
    if (projectId === '') {
      throw errors.PROJECT_ID_REQUIRED.missing();
    }
    return this.sessions.projectSummaries(projectId);
  }

  async status(sessionId: string): Promise<SessionStatusResult> {
    const { cliType, isAlive, state, queuePaused } = (await this.info(sessionId)).session;
    return { sessionId, cliType, isAlive, state, ...(queuePaused && { queuePaused }) };
  }

  async info(sessionId: string): Promise<SessionInfo> {
    return this.#cache.use(sessionId, (session) => session.info());
  }

  async putBlob(bytes: Uint8Array, mimeType: string): Promise<UploadedBlob> {
    return putBlob(this.#blobs, bytes, mimeType);
  }

  async getBlob(hash: string): Promise<StoredBlob> {
    const blob = await this.#blobs.get(hash);
    if (blob) return blob;
    throw errors.BLOB_NOT_FOUND.unknown();
  }

  async history(sessionId: string, options: PageOptions = {}): Promise<HistoryPage> {
    return this.#cache.use(sessionId, async (session) => session.history.page(options));
  }

  async diff(sessionId: string): Promise<SessionDiff> {
    this.#assertOpen();
    return this.#diffs.read(await this.sessions.projectDir(sessionId));
  }

  async findFiles(
    projectDir: string,
    query: string,
    { limit }: { limit: number },
  ): Promise<FilesResult> {
    this.#assertOpen();
    return this.#files.find(projectDir, query, limit);
  }

  async listGrants(projectId: string): Promise<Grant[]> {
    return this.#store.listGrants(projectId);
  }

  async removeGrant(projectId: string, rule: string): Promise<void> {
    await this.#store.removeGrant(projectId, rule);
  }

  async search(text: string, options: Omit<SearchQuery, 'text'>): Promise<SearchResult> {
    return searchHistory(this.#store, { text, ...options });
  }

  async exportSession(
    sessionId: string,
    { liminal }: { liminal: string },
  ): Promise<AsyncIterable<string>> {
    const record = await this.#storage.store.getSession(sessionId);
    const driver = this.#drivers.list().find(({ cliType }) => cliType === record?.cliType);
    const agent = (await driver?.describe())?.version;
    return exportSession(this.#storage, sessionId, {
      versions: { liminal, ...(agent !== undefined && { agent }) },
      secrets: this.#secrets,
      exportedAt: new Date(this.#now()).toISOString(),
    });
  }

  async importSession(file: AsyncIterable<Uint8Array>): Promise<ImportResult> {
    this.#assertOpen();
    const { result, record } = await importSession(this.#storage, file, {
      isTaken: async (sessionId) => this.sessions.isFound(sessionId),
      underWay: this.#importing,
    });
    this.publishSessions([summarize(record)]);
    return result;
  }

  async getRun(runId: string): Promise<Response> {
    return loadRun({ log: this.#log, store: this.#store }, runId);
  }

  async followRun(runId: string, options: FollowRunOptions): Promise<RunFeed> {
    return followRun({ log: this.#log, store: this.#store }, runId, options);
  }

  subscribe(sessionId: string, options: SubscribeOptions, sink: Sink): Subscription {
    const find = async () => {
      const { session, done } = await this.#cache.hold(sessionId);
      return { subscribers: session.localSubscribers, done };
    };
    return subscribeWhenFound(sessionId, find, options, sink);
  }

  subscribeToSessionList(
    onChange: (change: SessionsChange) => void,
    { ownOnly = false } = {},
  ): () => void {
    const stop = this.#listSubscribers.add(onChange);
    const publish = (sessions: SessionSummary[]): void =>
      this.#listSubscribers.publishTo(onChange, { sessions, removed: [] });
    const onTrouble = (error: unknown): void => this.#warn(error, 'sessions cannot be listed');
    const leaving = new AbortController();
    const begin = async (): Promise<void> => {
      if (!this.#listSubscribers.has(onChange)) return;
      publish(await this.sessions.ownSummaries());
      if (!ownOnly && this.#listSubscribers.has(onChange))
        this.sessions.eachFound(publish, onTrouble);
    };
    void retry(begin, { signal: leaving.signal, everyMs: listAgainMs, onTrouble });
    return () => {
      leaving.abort();
      stop();
    };
  }

  attach(sessionId: string, client: AttachedClient): () => void {
    return this.#clients.add(sessionId, client);
  }

  /** Whether the server no longer begins turns. */
  get isEnding(): boolean {
    return this.#closed || this.#finished !== undefined;
  }

  async finish(hurry: AbortSignal): Promise<void> {
    this.#finished ??= Promise.withResolvers();
    const late = Promise.withResolvers<void>();
    if (hurry.aborted) return;
    hurry.addEventListener('abort', () => late.resolve(), { once: true });
    await this.#checkFinished();
    await Promise.race([this.#finished.promise, late.promise]);
  }

  async #checkFinished(): Promise<void> {
    const sessions = await this.sessions.inMemory();
    if (!sessions.some(({ isWorking }) => isWorking)) this.#finished?.resolve();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopSweeping();
    this.#listSubscribers.clear();
    await this.#files.close();
    await this.#diffs.close();
    const sessions = await this.sessions.inMemory();
    await Promise.allSettled(sessions.map(async (session) => session.endWithServer()));
    await this.#drivers.close();
    await Promise.allSettled(sessions.map(async (session) => session.close()));
  }

  /** Sends these sessions to the subscribers of the session list. */
  publishSessions(sessions: SessionSummary[]): void {
    this.#listSubscribers.publish(sessions);
  }

  /** Removes from memory a session that another server has deleted. */
  async dropDeleted(sessionId: string): Promise<void> {
    this.#listSubscribers.publish([], [sessionId]);
    await this.sessions.dropDeleted(sessionId);
  }

  /** Sends the whole list to its subscribers again, because they may have missed changes or deletions. */
  async publishAllSessions(): Promise<void> {
    const removed = await this.#store.findDeleted(this.#listSubscribers.shown);
    this.#listSubscribers.publish(await this.sessions.ownSummaries(), removed);
  }

  async #mark(sessionId: string, marks: { archived?: boolean; pinned?: boolean }): Promise<void> {
    await this.sessions.findOrStore(sessionId, this.#cluster?.fenceOf(sessionId) ?? 0);
    await this.#cache.use(sessionId, async (session) => session.mark(marks));
  }

  #changed(session: Session): void {
    this.#listSubscribers.changed(session);
    this.#cache.note(session);
    if (this.#finished && !session.isWorking) void this.#checkFinished();
    if (session.isAlive) this.sessions.refreshAgentSessions(session.record.cliType);
    for (const old of this.#idle.note(session)) {
      old.stopAgent().catch((error) => this.#warn(error, 'an idle agent could not be stopped'));
    }
  }

  /** Throws if the server is shutting down; called before a turn begins, or an agent starts for a turn. */
  #assertTakesTurns(): void {
    if (!this.isEnding) return;
    throw errors.SHUTTING_DOWN.startsNothing();
  }

  #assertOpen(): void {
    if (this.#closed) throw errors.SHUTTING_DOWN.closed();
  }

  #warn(error: unknown, message: string): void {
    this.#logger.warn({ code: errorCode(error), error: errorMessage(error) }, message);
  }
}

function handle({ record: { sessionId, cliType } }: Session): SessionHandle {
  return { sessionId, cliType };
}
