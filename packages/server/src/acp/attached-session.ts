import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  methods,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/unstable';
import type {
  ContentBlock,
  HistoryMessage,
  Response,
  ServerMessage,
  SessionInfo,
  TurnSummary,
} from '@liminal/protocol';
import { toResponse, withoutTakenBack } from '@liminal/protocol';
import type { Runtime, Subscription } from '@liminal/runtime';
import { errors } from '../errors.ts';
import { type ClientSession, clientFiles } from './client-files.ts';
import { clientTerminals } from './client-terminals.ts';
import { requestError, requestErrorOf } from './errors.ts';
import { ownMeta } from './fold/meta.ts';
import { noticeOf } from './fold/notice.ts';
import { withClientPaths } from './client-paths.ts';
import { promptEnd } from './fold/prompt-end.ts';
import { foldRun, foldSnapshot, type RunFoldState, startRunFold } from './fold/run-fold.ts';
import type { ClientFeatures, Update } from './fold/acp-fold.ts';
import { Questions } from './questions.ts';
import { commandsOf, modeOption, settingsOf } from './settings.ts';
import { withBytes } from './with-bytes.ts';

export interface AttachedSessionOptions extends ClientSession {
  runtime: Runtime;
  onProblem: (error: unknown) => void;
  /**
   * The client's prompts that are still running from an earlier attachment to the same session, if there was an earlier
   * attachment.
   */
  ownTurns?: OwnTurns;
}

interface OwnTurn {
  ended: PromiseWithResolvers<Response>;
  /** Resolves when the turn runs, is queued, or was rejected. */
  submitted: Promise<void>;
  /**
   * True after the turn has ended. The turn's last updates may not have been sent yet, while another client's turn may
   * already run.
   */
  hasEnded: boolean;
}

/** By turn id. */
type OwnTurns = Map<string, OwnTurn>;

/**
 * Which updates from before the client attached are sent, and how. `all`: all updates, in the same way as live ones.
 * `history`: all updates except notices. `questions`: only the open questions.
 */
type UpdateScope = 'all' | 'history' | 'questions';

/** How many turns are read per page when a session is loaded. */
const pageSize = 200;

/**
 * One client's subscription to a session. Sends the session's runs one after another, and each event only once. A slow
 * client does not delay other clients: events that the slow client missed are read from the log or from history.
 */
export class AttachedSession {
  readonly #options: AttachedSessionOptions;
  readonly #questions: Questions;
  readonly #left = new AbortController();
  /** Runs that have been or will be sent to the client. */
  readonly #known = new Set<string>();
  /** The client's prompts whose turns have not ended. */
  readonly #own: OwnTurns;
  #subscription: Subscription | undefined;
  #detach: (() => void) | undefined;
  readonly #firstHistory = Promise.withResolvers<HistoryMessage>();
  #hasBegun = false;
  /** Sends the runs, one after another, in this order. */
  #sendingRuns: Promise<void> = Promise.resolve();
  /** Sends all updates that do not belong to a run. */
  #sendingInfo: Promise<void> = Promise.resolve();
  readonly #hasSettings = Promise.withResolvers<void>();
  #info: SessionInfo | undefined;
  #sentInfo = { options: '', commands: '[]', title: '', mode: '', isPaused: false };
  readonly #sentNotices = new Set<string>();
  #isInfoDue = false;
  #sendsInfo = false;

  constructor(options: AttachedSessionOptions) {
    this.#options = options;
    this.#own = options.ownTurns ?? new Map();
    this.#questions = new Questions(options);
  }

  /**
   * Subscribes to the session from now on. With `replay`, first sends the session from its beginning. Resolves when all
   * updates up to now have been sent. Rejects if the session does not exist.
   */
  async attach({ replay }: { replay: boolean }): Promise<void> {
    const { runtime, sessionId } = this.#options;
    const send = ({ message }: { message: ServerMessage }) => {
      this.#onMessage(message);
      return true;
    };
    this.#firstHistory.promise.catch(() => {});
    this.#subscription = runtime.subscribe(sessionId, {}, { send });
    this.#detach = runtime.attach(sessionId, {
      startedTurn: (turnId) => this.#own.has(turnId),
      ...clientFiles(this.#options),
      ...clientTerminals(this.#options),
    });
    const newestPage = await this.#firstHistory.promise;
    // Turns that were taken back are left out: an editor shows only turns that the agent remembers.
    const turns = replay
      ? withoutTakenBack([...(await this.#older(newestPage)), ...newestPage.turns])
      : newestPage.turns;
    const sending = turns.map(async (turn) =>
      this.#sendRun(turn.runId, replay ? 'history' : 'questions'),
    );
    this.#hasBegun = true;
    sending.push(...this.#earlyRuns.splice(0).map(async (runId) => this.#sendRun(runId, 'all')));
    await Promise.all(sending);
  }

  /** Runs that began while older runs were still being read. */
  readonly #earlyRuns: string[] = [];

  /** Resolves when the agent's settings are known, or after `limitMs`, because an agent may have no settings. */
  async settingsKnown(limitMs: number): Promise<void> {
    await Promise.race([this.#hasSettings.promise, delay(limitMs, undefined, { ref: false })]);
  }

  /**
   * Starts to send the session's title, settings and commands. Must be called only after the client has received the
   * session's id.
   */
  startSendingInfo(): void {
    this.#sendsInfo = true;
    this.#infoChanged();
  }

  /** Marks the settings as sent, because the response to the client contains them. */
  markSettingsSent(info: SessionInfo): void {
    this.#sentInfo.options = JSON.stringify(settingsOf(info.configOptions).configOptions);
    this.#sentInfo.mode = modeOption(info.configOptions)?.currentValue ?? '';
  }

  /**
   * Sends a message. Resolves when the message's turn has ended and all updates of the turn have been sent. Throws a
   * RequestError.
   */
  async prompt(
    message: string,
    blocks: ContentBlock[],
    signal: AbortSignal,
  ): Promise<PromptResponse> {
    const { runtime, sessionId } = this.#options;
    const turnId = randomUUID();
    const ended = Promise.withResolvers<Response>();
    ended.promise.catch(() => undefined);
    const submitted = Promise.withResolvers<void>();
    this.#own.set(turnId, { ended, submitted: submitted.promise, hasEnded: false });
    const stop = () => {
      // A closed connection also aborts the requests of the client, but the turns of these requests continue.
      if (!(signal.reason instanceof RequestError)) return;
      this.#stop(turnId).catch(this.#options.onProblem);
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await runtime.send(sessionId, message, turnId, { blocks }).finally(submitted.resolve);
      const response = await ended.promise;
      return promptEnd(response);
    } catch (error) {
      throw requestError(error);
    } finally {
      signal.removeEventListener('abort', stop);
      this.#own.delete(turnId);
    }
  }

  /**
   * Stops the client's own prompts, including prompts that were sent just before. If the client has no prompts, stops
   * the running turn.
   */
  async cancel(): Promise<void> {
    const waiting = [...this.#own.keys()];
    for (const turnId of waiting.toReversed()) await this.#stop(turnId);
    if (waiting.length === 0) await this.#options.runtime.cancel(this.#options.sessionId);
  }

  /** Like `cancel`, but resolves only when the client has been sent the ends of all its prompts. */
  async stopAll(): Promise<void> {
    const own = [...this.#own.values()];
    await this.cancel();
    await Promise.allSettled(own.map(({ ended }) => ended.promise));
  }

  /**
   * Detaches a client that has closed its connection or the session. If the client began turns and did not stop them,
   * these turns continue.
   */
  leave(): void {
    for (const { ended } of this.handOver().values()) ended.resolve(cancelled);
  }

  /**
   * Detaches the client because it opens the session again. Returns the client's prompts, which the new attachment
   * takes over.
   */
  handOver(): OwnTurns {
    this.#left.abort();
    this.#detach?.();
    this.#questions.close();
    this.#subscription?.close();
    this.#firstHistory.reject(errors.INVALID_PARAMS.closedMeanwhile());
    return this.#own;
  }

  async #stop(turnId: string): Promise<void> {
    const { runtime, sessionId } = this.#options;
    await this.#own.get(turnId)?.submitted;
    const { queue } = await runtime.info(sessionId);
    const isWaiting = queue.some((one) => one.turnId === turnId && one.state === 'queued');
    const own = this.#own.get(turnId);
    if (own === undefined || own.hasEnded) return;
    if (!isWaiting) return runtime.cancel(sessionId);
    await runtime.removeQueued(sessionId, turnId);
    own.ended.resolve(cancelled);
  }

  #onMessage(message: ServerMessage): void {
    switch (message.type) {
      case 'session:history':
        if (this.#hasBegun) for (const turn of message.turns) void this.#sendRun(turn.runId, 'all');
        else this.#firstHistory.resolve(message);
        return;
      case 'session:turn':
        if (message.payload.type !== 'turn_started') return this.#turnEnded(message.payload.turnId);
        // A turn's first run has the turn's id.
        if (this.#hasBegun) void this.#sendRun(message.payload.turnId, 'all');
        else this.#earlyRuns.push(message.payload.turnId);
        return;
      case 'session:info':
        this.#info = message.info;
        if (areSettingsKnown(message.info)) this.#hasSettings.resolve();
        return this.#infoChanged();
      case 'session:error':
        this.#firstHistory.reject(requestErrorOf(message.code, message.message));
        return this.#notice('error', message.message);
      case 'session:deleted':
        return this.leave();
      default:
      // Messages of other types are ignored, because the items are read from the events of the runs.
    }
  }

  #turnEnded(turnId: string): void {
    const own = this.#own.get(turnId);
    if (own) own.hasEnded = true;
  }

  /** Reads the summaries of older turns, oldest first. */
  async #older(newestPage: HistoryMessage): Promise<TurnSummary[]> {
    const { runtime, sessionId } = this.#options;
    const older: TurnSummary[][] = [];
    let page: Pick<HistoryMessage, 'hasMore' | 'before'> = newestPage;
    while (page.hasMore && page.before !== undefined) {
      const next = await runtime.history(sessionId, { before: page.before, limit: pageSize });
      older.push(next.turns);
      page = next;
    }
    return older.toReversed().flat();
  }

  /** Sends a run only once. Resolves when the run's updates up to now have been sent. */
  async #sendRun(runId: string, scope: UpdateScope): Promise<void> {
    if (this.#known.has(runId)) return;
    this.#known.add(runId);
    const upToDate = Promise.withResolvers<void>();
    const follow = async () => {
      await this.#follow(runId, scope, upToDate.resolve).catch((error: unknown) => {
        if (!this.#left.signal.aborted) this.#own.get(runId)?.ended.reject(error);
        throw error;
      });
    };
    this.#sendingRuns = this.#sendingRuns
      .then(async () => this.#safely(follow))
      .finally(() => upToDate.resolve());
    await upToDate.promise;
  }

  async #safely(step: () => Promise<void>): Promise<void> {
    const { signal } = this.#left;
    if (signal.aborted) return;
    await step().catch((error: unknown) => {
      if (!signal.aborted) this.#options.onProblem(error);
    });
  }

  async #follow(runId: string, scope: UpdateScope, onUpToDate: () => void): Promise<void> {
    const { runtime } = this.#options;
    const { signal } = this.#left;
    const isOwn = this.#own.has(runId);
    const first = await runtime.getRun(runId);
    // A client that loads a session does not yet show the messages that it sent earlier.
    const isShown = isOwn && scope !== 'history';
    let state = await this.#catchUp(startRunFold(), first, scope, isShown);
    onUpToDate();
    while (!hasRunEnded(toResponse(state.response)) && !signal.aborted) {
      const feed = await runtime.followRun(runId, { after: state.response.lastSeq, signal });
      if (feed.kind === 'snapshot') {
        state = await this.#catchUp(state, feed.response, 'all', isOwn);
        continue;
      }
      for await (const event of feed.events) {
        const { state: next, updates } = foldRun(state, event, this.#features, isOwn);
        state = next;
        for (const one of updates) await this.#sendChange(one);
      }
    }
    const response = toResponse(state.response);
    if (response && hasRunEnded(response)) this.#own.get(runId)?.ended.resolve(response);
  }

  async #catchUp(
    state: RunFoldState,
    response: Response,
    scope: UpdateScope,
    isOwn: boolean,
  ): Promise<RunFoldState> {
    const isLive = scope === 'all';
    const { state: next, updates } = foldSnapshot(state, response, this.#features, isOwn, isLive);
    // An open question is sent to every client that attaches to the session.
    const due = scope === 'questions' ? updates.filter(({ kind }) => kind === 'question') : updates;
    for (const one of due) await this.#sendChange(one);
    return next;
  }

  get #features(): ClientFeatures {
    const { session, _meta: meta } = this.#options.capabilities;
    return {
      notices: session?.notices != null,
      compactions: session?.compaction != null,
      terminals: meta?.['terminal_output'] === true,
    };
  }

  async #sendChange(change: Update): Promise<void> {
    if (change.kind === 'answered') return this.#questions.closeDialog(change.approvalId);
    if (change.kind === 'question') {
      return this.#questions.ask(change.approval, withClientPaths(change.toolCall, this.#options));
    }
    const update = await withBytes(change.update, this.#options.runtime);
    const isCall =
      update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update';
    await this.#send(isCall ? withClientPaths(update, this.#options) : update);
  }

  async #send(update: SessionUpdate): Promise<void> {
    const { client, sessionId } = this.#options;
    await client.notify(methods.client.session.update, { sessionId, update });
  }

  #infoChanged(): void {
    if (!this.#sendsInfo || this.#isInfoDue || this.#info === undefined) return;
    this.#isInfoDue = true;
    this.#enqueueInfo(async () => {
      this.#isInfoDue = false;
      if (this.#info) for (const update of this.#infoUpdates(this.#info)) await this.#send(update);
    });
  }

  #infoUpdates(info: SessionInfo): SessionUpdate[] {
    const { configOptions, commands, session, queue, notices = [] } = info;
    const settings = settingsOf(configOptions);
    const mode = modeOption(configOptions)?.currentValue ?? '';
    const availableCommands = commandsOf(commands);
    const now = {
      options: JSON.stringify(settings.configOptions),
      commands: JSON.stringify(availableCommands),
      title: session.title,
      mode,
      isPaused: session.queuePaused === true,
    };
    const before = this.#sentInfo;
    this.#sentInfo = now;
    const updates: SessionUpdate[] = [];
    if (now.options !== before.options) {
      const settingsUpdate = { configOptions: settings.configOptions };
      updates.push({ sessionUpdate: 'config_option_update', ...settingsUpdate });
    }
    if (mode !== before.mode && mode !== '') {
      updates.push({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    }
    if (now.commands !== before.commands) {
      updates.push({ sessionUpdate: 'available_commands_update', availableCommands });
    }
    const { isPaused } = now;
    if (now.title !== before.title || isPaused !== before.isPaused) {
      const { title, updatedAt } = session;
      const meta = isPaused === before.isPaused ? {} : ownMeta({ queuePaused: isPaused });
      updates.push({ sessionUpdate: 'session_info_update', title, updatedAt, ...meta });
    }
    if (isPaused && !before.isPaused && this.#features.notices) {
      updates.push(noticeOf('info', pausedNotice(queue.length)));
    }
    for (const { level, text } of notices) {
      if (this.#sentNotices.has(text)) continue;
      this.#sentNotices.add(text);
      if (this.#features.notices && text.trim() !== '') updates.push(noticeOf(level, text));
    }
    return updates;
  }

  #notice(severity: 'error', text: string): void {
    if (!this.#features.notices || text.trim() === '') return;
    this.#enqueueInfo(async () => this.#send(noticeOf(severity, text)));
  }

  #enqueueInfo(step: () => Promise<void>): void {
    this.#sendingInfo = this.#sendingInfo.then(async () => this.#safely(step));
  }
}

/** When the agent starts, `accepts` is set together with the settings. An agent may have no settings. */
const areSettingsKnown = ({ configOptions, accepts, lastKnown }: SessionInfo): boolean =>
  lastKnown !== true && (configOptions.length > 0 || accepts !== undefined);

/**
 * Shown for waiting messages that the client did not send, and for waiting messages whose responses the client did not
 * wait for.
 */
const pausedNotice = (count: number): string =>
  `The queue is paused: ${count === 1 ? 'a message waits' : `${count} messages wait`}.\nSend a message to continue.`;

/** Used as the end of a turn that never ran, or of a turn that continues after its client has detached. */
const cancelled = { status: 'aborted', finishReason: 'cancelled' } as Response;

const hasRunEnded = (run: Pick<Response, 'status'> | undefined): boolean =>
  run !== undefined && run.status !== 'in_progress' && run.status !== 'queued';
