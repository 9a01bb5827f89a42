import type { ProviderRegistry } from '@liminal/agents';
import type {
  AgentInfo,
  CreateSessionBody,
  FormContent,
  HistoryPage,
  Project,
  Response,
  SearchResult,
  SendResult,
  SessionHandle,
  SessionInfo,
  SessionStatusResult,
  SessionSummary,
} from '@liminal/protocol';
import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import type { EventLog, ResponseStore } from '@liminal/storage';
import type {
  RunFeed,
  Runtime,
  SearchQuery,
  SessionsChange,
  Sink,
  SubscribeOptions,
  Subscription,
} from './api.ts';
import { Directory } from './directory.ts';
import { errorCode, errorMessage, RuntimeError } from './errors.ts';
import type { PageOptions } from './history.ts';
import { IdleProcesses } from './idle-processes.ts';
import { outgoing } from './outgoing.ts';
import { AgentStores, groupByProject } from './projects.ts';
import { recover } from './recovery.ts';
import { Roots } from './roots.ts';
import { searchHistory } from './search.ts';
import type { Session } from './session.ts';
import { SessionWatchers } from './session-watchers.ts';
import type { Logger, RuntimeSettings } from './settings.ts';
import { defaultSettings } from './settings.ts';

export interface RuntimeOptions {
  storage: { log: EventLog; store: ResponseStore };
  providers: ProviderRegistry;
  /** Folders that project folders must lie under. */
  roots: readonly string[];
  logger: Logger;
  settings?: Partial<RuntimeSettings>;
  /** ms since the epoch. */
  now?: () => number;
}

/** Ends what an earlier server left open, and gives a runtime that is ready for sessions. */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const now = options.now ?? Date.now;
  await recover(options.storage, () => new Date(now()).toISOString());
  return new SessionRuntime(options, await Roots.open(options.roots), now);
}

class SessionRuntime implements Runtime {
  readonly #log: EventLog;
  readonly #store: ResponseStore;
  readonly #providers: ProviderRegistry;
  readonly #logger: Logger;
  readonly #roots: Roots;
  readonly #sessions: Directory;
  readonly #idle: IdleProcesses;
  readonly #watchers = new SessionWatchers();
  #closed = false;

  constructor(options: RuntimeOptions, roots: Roots, now: () => number) {
    const { storage, providers, logger } = options;
    const settings = { ...defaultSettings, ...options.settings };
    this.#log = storage.log;
    this.#store = storage.store;
    this.#providers = providers;
    this.#logger = logger;
    this.#roots = roots;
    this.#idle = new IdleProcesses(settings.maxIdleProcesses);
    this.#sessions = new Directory({
      ...storage,
      providers,
      roots,
      settings,
      logger,
      now,
      agentStores: new AgentStores(
        () => providers.list(),
        now,
        (cliType, error) => {
          if (!this.#closed) this.#warn(error, `sessions of ${cliType} cannot be listed`);
        },
      ),
      onChange: (session) => this.#changed(session),
    });
  }

  async listAgents(): Promise<AgentInfo[]> {
    return Promise.all(this.#providers.list().map(async (provider) => provider.describe()));
  }

  async listProjects(): Promise<Project[]> {
    return groupByProject(await this.#sessions.summaries());
  }

  async listFolders(prefix: string): Promise<{ path: string; name: string }[]> {
    return this.#roots.complete(prefix);
  }

  async createSession(request: CreateSessionBody): Promise<SessionHandle> {
    this.#assertOpen();
    return handle(await this.#sessions.create(request));
  }

  async loadSession(sessionId: string): Promise<SessionHandle> {
    this.#assertOpen();
    const known = await this.#sessions.find(sessionId);
    const session = known ?? (await this.#sessions.adopt(sessionId));
    await this.#roots.admit(session.record.projectDir);
    await session.open();
    return handle(session);
  }

  async listSessions(projectId: string): Promise<SessionSummary[]> {
    return this.#sessions.activeSummaries(projectId);
  }

  async status(sessionId: string): Promise<SessionStatusResult> {
    const { cliType, isAlive, state } = (await this.#sessions.get(sessionId)).summary;
    return { sessionId, cliType, isAlive, state };
  }

  async info(sessionId: string): Promise<SessionInfo> {
    return (await this.#sessions.get(sessionId)).info();
  }

  async rename(sessionId: string, title: string): Promise<void> {
    await (await this.#sessions.get(sessionId)).rename(title);
  }

  async send(sessionId: string, message: string): Promise<SendResult> {
    this.#assertOpen();
    return (await this.#sessions.get(sessionId)).send(message);
  }

  async editQueued(sessionId: string, turnId: string, message: string): Promise<void> {
    await (await this.#sessions.get(sessionId)).editQueued(turnId, message);
  }

  async removeQueued(sessionId: string, turnId: string): Promise<void> {
    await (await this.#sessions.get(sessionId)).removeQueued(turnId);
  }

  async cancel(sessionId: string): Promise<void> {
    await (await this.#sessions.get(sessionId)).cancel();
  }

  async kill(sessionId: string): Promise<void> {
    await (await this.#sessions.get(sessionId)).kill();
  }

  async answerApproval(
    sessionId: string,
    approvalId: string,
    optionId: string,
    content?: FormContent,
  ): Promise<void> {
    await (await this.#sessions.get(sessionId)).answerApproval(approvalId, optionId, content);
  }

  async setConfig(sessionId: string, id: string, value: string): Promise<void> {
    await (await this.#sessions.get(sessionId)).setConfig(id, value);
  }

  async history(sessionId: string, options: PageOptions = {}): Promise<HistoryPage> {
    return (await this.#sessions.get(sessionId)).history.page(options);
  }

  async search(query: SearchQuery): Promise<SearchResult> {
    return searchHistory(this.#store, query);
  }

  async getRun(runId: string): Promise<Response> {
    const logged = await this.#log.read(runId);
    const folded = toResponse(logged.reduce(foldResponse, emptyResponse()));
    const response = folded ?? (await this.#store.getResponse(runId));
    if (!response) throw new RuntimeError('RUN_NOT_FOUND', `There is no run ${runId}.`);
    return response;
  }

  async followRun(
    runId: string,
    options: { after: number; signal: AbortSignal },
  ): Promise<RunFeed> {
    // Following begins before looking: a run that is settled in between is then still given to its end.
    const giveUp = new AbortController();
    const signal = AbortSignal.any([options.signal, giveUp.signal]);
    const following = this.#log.follow(runId, { after: options.after, signal });
    const follower = following[Symbol.asyncIterator]();
    const first = follower.next();
    const [known] = await this.#log.read(runId, { limit: 1 });
    if (known) return { kind: 'events', events: resumeIterator(first, follower) };
    giveUp.abort();
    return { kind: 'snapshot', response: await this.getRun(runId) };
  }

  subscribe(sessionId: string, options: SubscribeOptions, sink: Sink): Subscription {
    let inner: Subscription | undefined;
    let closed = false;
    const begin = async (): Promise<void> => {
      const session = await this.#sessions.get(sessionId);
      if (!closed) inner = session.view.subscribe(options, sink);
    };
    begin().catch((error) => {
      const [code, message] = [errorCode(error), errorMessage(error)];
      sink.send(outgoing({ type: 'session:error', sessionId, code, message }));
    });
    return {
      drained: () => inner?.drained(),
      close: () => {
        closed = true;
        inner?.close();
      },
    };
  }

  watchSessions(listener: (change: SessionsChange) => void, { ownOnly = false } = {}): () => void {
    const stop = this.#watchers.add(listener);
    const tell = (sessions: SessionSummary[]): void => {
      if (this.#watchers.has(listener)) listener({ sessions, removed: [] });
    };
    const begin = async (): Promise<void> => {
      tell(await this.#sessions.ownSummaries());
      if (!ownOnly && this.#watchers.has(listener)) this.#sessions.eachFound(tell);
    };
    begin().catch((error) => this.#warn(error, 'sessions cannot be listed'));
    return stop;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#watchers.clear();
    const sessions = await this.#sessions.inMemory();
    await Promise.allSettled(sessions.map(async (session) => session.shutDown()));
    await Promise.allSettled(this.#providers.list().map(async (provider) => provider.close()));
    await Promise.allSettled(sessions.map(async (session) => session.close()));
  }

  #changed(session: Session): void {
    this.#watchers.changed(session);
    for (const old of this.#idle.note(session)) {
      old.stopAgent().catch((error) => this.#warn(error, 'an idle agent would not end'));
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw new RuntimeError('SHUTTING_DOWN', 'The server is shutting down.');
  }

  #warn(error: unknown, message: string): void {
    this.#logger.warn({ code: errorCode(error), error: errorMessage(error) }, message);
  }
}

/** Goes on with an iterator whose first step is under way. */
async function* resumeIterator<T>(
  first: Promise<IteratorResult<T>>,
  rest: AsyncIterator<T>,
): AsyncGenerator<T, void> {
  try {
    for (let step = await first; !step.done; step = await rest.next()) yield step.value;
  } finally {
    await rest.return?.();
  }
}

function handle({ record: { sessionId, cliType } }: Session): SessionHandle {
  return { sessionId, cliType };
}
