import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type {
  CommandName,
  ContentBlock,
  CreateSessionBody,
  HistoryPage,
  ImportResult,
  SessionHandle,
  SessionInfo,
  SessionStatusResult,
} from '@liminal/protocol';
import type { Coordination } from '@liminal/storage';
import { errors } from '../errors.ts';
import type {
  Runtime,
  RuntimeGauges,
  RuntimeMetrics,
  Sink,
  SubscribeOptions,
  Subscription,
} from '../api.ts';
import { storeBlocks } from '../blobs/index.ts';
import { CommandRequest, type Commands, forwardCommands, readAnswer } from '../commands.ts';
import { subscribeWhenFound } from '../subscribers/index.ts';
import type { PageOptions } from '../history/index.ts';
import { enabledArchive } from '../enabled-archive.ts';
import type { Roots } from '../roots.ts';
import { type RuntimeOptions, SessionRuntime } from '../runtime.ts';
import { defaultSettings } from '../settings.ts';
import { Messenger } from './messenger.ts';
import { OwnedSessions } from './owned-sessions.ts';
import { Ownership, ttlShare } from './ownership.ts';
import { type PostedState, postSession } from './posted-state.ts';
import { type ProjectorWorker, startProjectorWorker } from './projector-worker.ts';
import { FollowedSessions } from './followed-sessions.ts';
import { Router } from './router.ts';
import { SettledRuns } from './settled-runs.ts';
import { TroubleLog } from './trouble-log.ts';
import { tracedStore } from '../tracing/index.ts';
import { retry } from '../retry.ts';
import { PostedEnds, SessionCluster } from './session-cluster.ts';
import { SessionStates } from './session-states.ts';

/** Delay before the session list is re-sent after a failure, in ms. */
const retryMs = 1_000;
/** How long a closing server waits for its subscribers to receive the ends of their turns, in ms. */
const shownMs = 1_000;

/**
 * One of several servers that share the sessions. Each session has one owner, which runs it. Every server shows every
 * session, from the log and the owner's postings, and forwards commands to the owner.
 */
export class ClusterRuntime implements Omit<Runtime, CommandName> {
  readonly #options: RuntimeOptions;
  readonly #ownership: Ownership;
  readonly #sessionStates: SessionStates;
  readonly #settled: SettledRuns;
  /** The runtime of the sessions that this server owns. Also answers requests that need no owner. */
  readonly #own: SessionRuntime;
  readonly #owned: OwnedSessions;
  readonly #messenger: Messenger;
  readonly #router: Router;
  readonly #followedSessions: FollowedSessions;
  readonly #projector: ProjectorWorker;
  readonly #closing = new AbortController();
  /**
   * Every server gives the same answers to these requests: the servers share agents, project folders, the store and the
   * log.
   */
  readonly listAgents: Runtime['listAgents'] = async (...asked) => this.#own.listAgents(...asked);
  readonly exportSession: Runtime['exportSession'] = async (...asked) =>
    this.#own.exportSession(...asked);
  readonly findSessions: Runtime['findSessions'] = async (...asked) =>
    this.#own.findSessions(...asked);
  readonly listProjects: Runtime['listProjects'] = async (...asked) =>
    this.#own.listProjects(...asked);
  readonly listFolders: Runtime['listFolders'] = async (...asked) =>
    this.#own.listFolders(...asked);
  readonly listSessions: Runtime['listSessions'] = async (...asked) =>
    this.#own.listSessions(...asked);
  readonly findFiles: Runtime['findFiles'] = async (...asked) => this.#own.findFiles(...asked);
  readonly readFile: Runtime['readFile'] = async (...asked) => this.#own.readFile(...asked);
  readonly diff: Runtime['diff'] = async (...asked) => this.#own.diff(...asked);
  readonly listGrants: Runtime['listGrants'] = async (...asked) => this.#own.listGrants(...asked);
  readonly removeGrant: Runtime['removeGrant'] = async (...asked) =>
    this.#own.removeGrant(...asked);
  readonly putBlob: Runtime['putBlob'] = async (...asked) => this.#own.putBlob(...asked);
  readonly getBlob: Runtime['getBlob'] = async (...asked) => this.#own.getBlob(...asked);
  readonly search: Runtime['search'] = async (...asked) => this.#own.search(...asked);
  readonly getRun: Runtime['getRun'] = async (...asked) => this.#own.getRun(...asked);
  readonly followRun: Runtime['followRun'] = async (...asked) => this.#own.followRun(...asked);
  readonly troubles: Runtime['troubles'] = async () => this.#own.troubles();
  readonly subscribeToSessionList: Runtime['subscribeToSessionList'] = (...asked) =>
    this.#own.subscribeToSessionList(...asked);
  readonly attach: Runtime['attach'] = (...asked) => this.#own.attach(...asked);

  /** Registers this server with the other servers, and begins to take over the sessions of dead servers. */
  static async open(
    options: RuntimeOptions,
    coordination: Coordination,
    roots: Roots,
    now: () => number,
  ): Promise<Runtime> {
    const runtime = new ClusterRuntime(options, coordination, roots, now);
    await runtime.#followedSessions.open();
    await runtime.#settled.open(coordination.board);
    await runtime.#messenger.open();
    return Object.assign(runtime, runtime.#commands());
  }

  private constructor(
    options: RuntimeOptions,
    coordination: Coordination,
    roots: Roots,
    now: () => number,
  ) {
    const { leases, board, inboxes } = coordination;
    const trouble = new TroubleLog(options.logger);
    const onTrouble = (error: unknown): void => trouble.note(error);
    const { meter } = options;
    const base = {
      ...options.storage,
      ...enabledArchive(options.storage, options.settings),
      meter,
    };
    const storage = { ...base, cluster: new PostedEnds({ board, leases, onTrouble }) };
    const { leaseMs } = { ...defaultSettings, ...options.settings };
    const instanceId = randomUUID();
    this.#options = options;
    const { store, blobs } = storage;
    this.#settled = new SettledRuns({ ...storage, store: tracedStore(store, options.tracing) });
    this.#ownership = new Ownership({
      leases,
      store,
      endAgentsAt: options.endAgentsAt,
      instanceId,
      ttlMs: leaseMs * ttlShare,
      onLost: (sessionId) => void this.#owned.lost(sessionId).catch(onTrouble),
      onTrouble,
    });
    this.#sessionStates = new SessionStates({ board, store, blobs, ownership: this.#ownership });
    const cluster = new SessionCluster({
      board,
      leases,
      ownership: this.#ownership,
      sessionStates: this.#sessionStates,
      settled: this.#settled,
      onTrouble,
    });
    this.#own = new SessionRuntime(options, roots, now, cluster);
    this.#owned = new OwnedSessions({
      storage,
      ownership: this.#ownership,
      runtime: this.#own,
      now: () => new Date(now()).toISOString(),
      onTrouble,
    });
    this.#messenger = new Messenger({
      inboxes,
      instanceId,
      answer: async (question) => this.#answer(question),
      onTrouble,
    });
    this.#router = new Router({
      ownership: this.#ownership,
      owned: this.#owned,
      messenger: this.#messenger,
      run: async (request) => this.#own.run(request),
    });
    this.#followedSessions = new FollowedSessions({
      storage,
      board,
      sessionStates: this.#sessionStates,
      now,
      onTrouble,
    });
    this.#listenToFollowedSessions(onTrouble);
    this.#projector = startProjectorWorker({
      ...options,
      storage: { ...options.storage, coordination, meter },
      onRecovered: (sessionId) => void this.#resume(sessionId).catch(onTrouble),
    });
  }

  #listenToFollowedSessions(onTrouble: (error: unknown) => void): void {
    this.#followedSessions.on('posted', (postedState) => this.#posted(postedState));
    this.#followedSessions.on(
      'deleted',
      (sessionId) => void this.#own.dropDeleted(sessionId).catch(onTrouble),
    );
    this.#followedSessions.on('gap', () => {
      const { signal } = this.#closing;
      void retry(async () => this.#own.publishAllSessions(), {
        signal,
        everyMs: retryMs,
        onTrouble,
      });
    });
  }

  /** Takes over a session whose owner was lost. If the session's turn waited for a user, resumes the turn. */
  async #resume(sessionId: string): Promise<void> {
    const record = await this.#options.storage.store.getSession(sessionId);
    if (record?.awaits !== true) return;
    await this.#owned.act(sessionId, async () => this.#own.resume(sessionId));
  }

  async metrics(): Promise<RuntimeMetrics> {
    const metrics = await this.#own.metrics();
    return { ...metrics, lagEvents: this.#projector.lagEvents };
  }

  async gauges(): Promise<RuntimeGauges> {
    const gauges = await this.#own.gauges();
    // All subscribers on this server, whichever server owns their session.
    const { subscriberCounts } = this.#followedSessions;
    const sum = (kind: 'all' | 'slow'): number =>
      subscriberCounts.reduce((total, each) => total + each[kind], 0);
    return { ...gauges, subscribers: sum('all'), slowSubscribers: sum('slow') };
  }

  async createSession(request: CreateSessionBody): Promise<SessionHandle> {
    const sessionId = randomUUID();
    const created = await this.#owned.act(sessionId, async ({ token }) =>
      this.#own.createSession(request, { sessionId, fence: token }),
    );
    if (!created)
      throw new Error('Another server owns the id of the session that is being created.');
    return created.value;
  }

  async importSession(file: AsyncIterable<Uint8Array>): Promise<ImportResult> {
    const result = await this.#own.importSession(file);
    const { board } = this.#options.storage.coordination ?? {};
    const state = await this.#sessionStates.stored(result.sessionId);
    // Posts the session to the other servers.
    if (board && !result.wasThere) await postSession(board, state);
    return result;
  }

  async status(sessionId: string): Promise<SessionStatusResult> {
    const { cliType, isAlive, state, queuePaused } = (await this.info(sessionId)).session;
    return { sessionId, cliType, isAlive, state, ...(queuePaused && { queuePaused }) };
  }

  async info(sessionId: string): Promise<SessionInfo> {
    return (await this.#sessionStates.of(sessionId)).info;
  }

  async history(sessionId: string, options: PageOptions = {}): Promise<HistoryPage> {
    const { followed, done } = await this.#followedSessions.use(sessionId);
    return followed.history.page(options).finally(done);
  }

  subscribe(sessionId: string, options: SubscribeOptions, sink: Sink): Subscription {
    const find = async () => {
      const { followed, done } = await this.#followedSessions.use(sessionId);
      return { subscribers: followed.subscribers, done };
    };
    return subscribeWhenFound(sessionId, find, options, sink);
  }

  async finish(hurry: AbortSignal): Promise<void> {
    await this.#own.finish(hurry);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#owned.close();
    // The turns of this server must have ended, and their ends must be logged and shown, before other servers take its
    // sessions.
    const { owned } = this.#ownership;
    await this.#own.close();
    await Promise.race([this.#followedSessions.read(owned), delay(shownMs)]);
    await this.#messenger.close();
    await this.#ownership.close();
    await this.#projector.close();
    await this.#followedSessions.close();
    await this.#settled.close();
  }

  /**
   * Forwards each command to the session's owner. This server chooses the turn's id of a new message, and the session's
   * id of a fork, so that a retry does not send or fork twice.
   */
  #commands(): Commands {
    const commands = forwardCommands(async (request) =>
      readAnswer(request, await this.#router.run(request)),
    );
    return {
      ...commands,
      send: async (sessionId, message, turnId = randomUUID(), extras = {}) =>
        commands.send(sessionId, message, turnId, {
          ...extras,
          ...(await this.#storeBlocks(extras)),
        }),
      steer: async (sessionId, message, messageId = randomUUID(), extras = {}) =>
        commands.steer(sessionId, message, messageId, {
          ...extras,
          ...(await this.#storeBlocks(extras)),
        }),
      editQueued: async (sessionId, turnId, message, extras = {}) =>
        commands.editQueued(sessionId, turnId, message, {
          ...extras,
          ...(await this.#storeBlocks(extras)),
        }),
      notify: async (name, which) => commands.notify(await this.#own.sessions.idOf(name), which),
      fork: async (sessionId, { turnId, sessionId: forkId = randomUUID() } = {}) => {
        await commands.fork(sessionId, { turnId, sessionId: forkId });
        // The owner posts the fork to all servers.
        return commands.loadSession(forkId);
      },
    };
  }

  /** Replaces the bytes in content blocks with references: servers send each other no bytes. */
  async #storeBlocks({ blocks }: { blocks?: ContentBlock[] | undefined }) {
    return blocks && { blocks: await storeBlocks(this.#options.storage.blobs, blocks) };
  }

  /** Answers a command from a server that considers this server the session's owner. */
  async #answer(question: unknown): Promise<unknown> {
    const request = CommandRequest.parse(question);
    // A server that is shutting down starts nothing: it releases the session, so that the asking server can take it.
    const isLeft = this.#own.isEnding && (await this.#owned.releaseIdle(request.sessionId));
    const answer = isLeft ? undefined : await this.#router.answer(request);
    if (answer) return answer.value;
    throw errors.NOT_OWNER.noLonger();
  }

  /** Leaves out sessions that this server owns: the runtime itself reports changes of these sessions. */
  #posted({ info: { session } }: PostedState): void {
    if (!this.#ownership.leaseOf(session.sessionId)) this.#own.publishSessions([session]);
  }
}
