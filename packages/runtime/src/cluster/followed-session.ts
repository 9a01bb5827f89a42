import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Position, SessionInfo } from '@liminal/protocol';
import { HistoryReader, readRun, type Storage } from '../history/index.ts';
import { LocalSubscribers } from '../subscribers/index.ts';
import { Supervisor } from '../turn/index.ts';
import { retry } from '../retry.ts';
import { hasEnd, untilEndInHistory } from './end-in-history.ts';
import type { PostedState } from './posted-state.ts';

/** Delay before a run is read again after a failure, in ms. */
const retryMs = 1_000;
/**
 * The longest time, in ms, that a subscriber waits for events that it has already received from another server: the log
 * may have lost these events.
 */
const reachMs = 10_000;
const settledMax = 20;
/** How long this server continues to read a run from the log after the run is in history, in ms. */
const leaveMs = 2_000;

interface FollowedSessionOptions {
  sessionId: string;
  storage: Storage;
  /** The session's state before the first posting. */
  postedState: PostedState;
  /** The current time in ms since the epoch. */
  now: () => number;
  onTrouble: (error: unknown) => void;
}

/** A run that is being read from the log. */
interface FollowedRun {
  ended: Promise<void>;
  /** Stops reading from the log; subscribers get the remaining events from history. */
  leave: AbortController;
}

/**
 * A session in the form in which any server shows it: the runs come from the log, and the state comes from the owner's
 * postings. After a gap, the run is read again, and subscribers catch up from their cursors (invariant 7).
 */
export class FollowedSession {
  readonly subscribers: LocalSubscribers;
  readonly history: HistoryReader;
  readonly #options: FollowedSessionOptions;
  readonly #closing = new AbortController();
  /** Runs that are being read from the log until they end. */
  readonly #followed = new Map<string, FollowedRun>();
  /**
   * The newest run that subscribers of this server have seen; while there are no subscribers, the newest run in
   * history.
   */
  #newestShown: string | undefined;
  /** Runs that the log no longer has and whose ends history does not have yet. */
  readonly #ending = new Map<string, Promise<unknown>>();
  /** The newest runs that history has: later postings about them are ignored. */
  #settled: string[] = [];
  /** Emits `moved` when a followed run has a new event, or is no longer followed. */
  readonly #progress = new EventEmitter().setMaxListeners(0);
  #info: SessionInfo;
  #postedCount = 0;

  constructor(options: FollowedSessionOptions) {
    const { sessionId, storage, postedState, now } = options;
    this.#options = options;
    this.#info = postedState.info;
    this.history = new HistoryReader({
      sessionId,
      store: storage.store,
      live: () => this.subscribers,
      reach: async (place) => this.#reach(place),
      iso: () => new Date(now()).toISOString(),
    });
    const info = (): SessionInfo => this.#info;
    const supervisor = new Supervisor(options.onTrouble);
    this.subscribers = new LocalSubscribers({ sessionId, history: this.history, info, supervisor });
  }

  get info(): SessionInfo {
    return this.#info;
  }

  /** Reads the runs that history may lack. */
  async open(): Promise<void> {
    const { sessionId, storage } = this.#options;
    const runIds = await this.#openRuns();
    const { heads } = await storage.store.readItems(sessionId, { limit: 1 });
    this.#newestShown = heads.at(-1)?.id;
    await Promise.all(runIds.map((runId) => this.#catchUp(runId)));
    for (const runId of runIds) {
      if (this.subscribers.progress(runId)) this.#newestShown = runId;
      this.#follow(runId);
    }
  }

  /** How many states were posted so far. */
  get postedCount(): number {
    return this.#postedCount;
  }

  /** Handles a state that the session's owner has posted. */
  posted({ info, runId }: PostedState): void {
    this.#postedCount += 1;
    this.#info = info;
    if (runId !== undefined) this.#follow(runId);
    this.subscribers.infoChanged();
  }

  /** Handles the posting that history has the run. */
  settled(runId: string): void {
    const isNew = !this.#settled.includes(runId);
    this.#remember(runId);
    if (this.#followed.has(runId)) return void this.#leaveSoon(runId);
    const wasShown = this.subscribers.progress(runId) !== undefined;
    this.subscribers.forget(runId);
    // The run began and ended before this server knew of it.
    if (isNew && !wasShown) this.subscribers.resync({ fromBeginning: true });
  }

  /**
   * Waits a while, because a followed run usually reaches its end in the log. If the log has lost the end, subscribers
   * get the remaining events from history.
   */
  async #leaveSoon(runId: string): Promise<void> {
    const following = this.#followed.get(runId);
    await delay(leaveMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
    if (following === undefined || this.#followed.get(runId) !== following) return;
    following.leave.abort();
    await following.ended;
    this.subscribers.resync({ fromBeginning: true });
  }

  #remember(runId: string): void {
    this.#settled = [...this.#settled.filter((one) => one !== runId), runId].slice(-settledMax);
  }

  /** Reads state and runs again, because postings may have been missed. */
  async refresh(postedState: PostedState | undefined): Promise<void> {
    // Resync first: a later run must not move the cursors past runs that subscribers never saw.
    this.subscribers.resync();
    if (postedState) this.posted(postedState);
    for (const runId of await this.#openRuns()) this.#follow(runId);
    await this.#forgetStored();
    this.subscribers.resync();
  }

  /** Resolves when subscribers have the running turns up to their ends. */
  async read(): Promise<void> {
    await Promise.all([...this.#followed.values()].map(({ ended }) => ended));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#progress.emit('moved');
    this.subscribers.close();
    await Promise.all([this.read(), ...this.#ending.values()]);
  }

  async #openRuns(): Promise<string[]> {
    const { sessionId, storage } = this.#options;
    const runs = await storage.log.unsettled();
    return runs.filter((run) => run.sessionId === sessionId).map(({ runId }) => runId);
  }

  /**
   * Shows a run's current state. Called before there are subscribers, so that the first subscriber gets the newest
   * state at once.
   */
  async #catchUp(runId: string): Promise<void> {
    const response = await readRun(this.#options.storage, runId);
    // A posting may have started the following of this run in the meantime; the run must not begin again.
    if (this.subscribers.progress(runId)) return;
    // A run that has come into history in the meantime is skipped: no further posting would end the run on this server.
    if (response.started && !this.#settled.includes(runId))
      this.subscribers.restart(runId, response);
  }

  #follow(runId: string): void {
    if (this.#followed.has(runId) || this.#settled.includes(runId)) return;
    if (this.subscribers.progress(runId)?.hasEnded) return;
    const leave = new AbortController();
    const ended = this.#readToEnd(runId, leave.signal).then(() => {
      this.#followed.delete(runId);
      if (this.#settled.includes(runId)) this.subscribers.forget(runId);
      this.#progress.emit('moved');
    });
    this.#followed.set(runId, { ended, leave });
  }

  async #readToEnd(runId: string, left: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, left]);
    // Wait for the runs that are still ending: this run would move the cursors past their ends.
    await Promise.all(this.#ending.values());
    const { onTrouble } = this.#options;
    await retry(async () => this.#read(runId, signal), {
      signal,
      everyMs: retryMs,
      onTrouble,
    });
  }

  async #read(runId: string, signal: AbortSignal): Promise<void> {
    const { log } = this.#options.storage;
    const after = this.subscribers.progress(runId)?.lastSeq ?? -1;
    let next = after + 1;
    for await (const event of log.follow(runId, { after, signal })) {
      if (!this.subscribers.progress(runId)) {
        await this.#showFromHistory(runId, signal);
        await this.#waitForEarlier(runId, signal);
      }
      if (signal.aborted) return;
      if (event.seq > next) return this.#readAnew(runId, signal);
      next = event.seq + 1;
      this.subscribers.apply([event]);
      this.#progress.emit('moved');
    }
    if (signal.aborted || this.subscribers.progress(runId)?.hasEnded) return;
    const wasShown = this.subscribers.progress(runId) !== undefined;
    // The run was settled before this server had read all of it. Subscribers get the remaining events from history now,
    // before they get events of a later run.
    this.subscribers.forget(runId);
    this.settled(runId);
    this.subscribers.resync({ fromBeginning: true });
    const shown = this.#showEnd(runId, wasShown).then(() => this.#ending.delete(runId));
    this.#ending.set(runId, shown);
  }

  /**
   * Shows a run's end from history. If the log has lost the run instead of dropping it, the run's end is written to
   * history only now.
   */
  async #showEnd(runId: string, wasShown: boolean): Promise<void> {
    const { signal } = this.#closing;
    if (!wasShown && (await hasEnd(this.#options, runId))) return;
    await untilEndInHistory(this.#options, runId, signal);
    if (!signal.aborted) this.subscribers.resync({ fromBeginning: true });
  }

  /** Reads the run from the store, because the log has dropped events that this server had not read yet. */
  async #readAnew(runId: string, signal: AbortSignal): Promise<void> {
    const response = await readRun(this.#options.storage, runId);
    if (signal.aborted) return;
    this.subscribers.restart(runId, response);
    this.#progress.emit('moved');
    await this.#read(runId, signal);
  }

  /**
   * Shows, from history, the runs that subscribers have not seen, before an event of this run moves the cursors past
   * those runs. Usually there are no such runs. If history already has the end of this run, also shows this run from
   * history: a subscriber that got the run from history must not see the run begin again.
   */
  async #showFromHistory(runId: string, signal: AbortSignal): Promise<void> {
    const { sessionId, storage } = this.#options;
    const from = this.#newestShown === undefined ? {} : { fromRunId: this.#newestShown };
    const heads = await storage.store.listRuns(sessionId, from);
    if (signal.aborted) return;
    const unseen = heads?.filter(
      ({ id, status }) => status !== 'in_progress' && !this.#isShown(id),
    );
    this.#newestShown = runId;
    for (const { id } of unseen ?? []) {
      this.#remember(id);
      this.#followed.get(id)?.leave.abort();
      this.subscribers.forget(id);
    }
    if (unseen?.length !== 0) this.subscribers.resync();
  }

  /**
   * Waits for the end of earlier runs: an agent may begin a run by itself when the previous run has ended but is not in
   * history yet.
   */
  async #waitForEarlier(runId: string, signal: AbortSignal): Promise<void> {
    const followed = [...this.#followed.keys()];
    const earlier = followed.slice(0, followed.indexOf(runId));
    const isAnyOpen = () => earlier.some((id) => this.subscribers.progress(id)?.hasEnded === false);
    await this.#waitWhile(AbortSignal.any([signal, AbortSignal.timeout(reachMs)]), isAnyOpen);
  }

  /** Resolves when `condition` is false or the signal aborts. Checks `condition` whenever `moved` is emitted. */
  async #waitWhile(patience: AbortSignal, condition: () => boolean): Promise<void> {
    while (condition() && !patience.aborted) {
      await once(this.#progress, 'moved', { signal: patience }).catch(() => undefined);
    }
  }

  /** Returns whether subscribers of this server have seen all of a run, and the run has ended. */
  #isShown(runId: string): boolean {
    const run = this.subscribers.progress(runId);
    return run ? run.hasEnded : runId === this.#newestShown && !this.#followed.has(runId);
  }

  /**
   * Whether this server shows a run up to a position that another server has shown. Waits until this server reaches the
   * position, at most `reachMs`.
   */
  async #reach(place: Position): Promise<boolean> {
    if (!this.#isBehind(place)) await this.#followIfOpen(place);
    await this.#waitWhile(AbortSignal.timeout(reachMs), () => this.#isBehind(place));
    // This server is closing, so its view will not advance. Never answer: the subscriber will soon continue at another
    // server.
    if (this.#closing.signal.aborted) await new Promise(() => {});
    return !this.#isBehind(place);
  }

  #isBehind({ runId, seq }: Position): boolean {
    if (this.#closing.signal.aborted) return false;
    const run = this.subscribers.progress(runId);
    return run ? run.lastSeq < seq && !run.hasEnded : this.#followed.has(runId);
  }

  /** Follows an open run for which this server has received no posting yet. */
  async #followIfOpen({ runId }: Position): Promise<void> {
    if (this.subscribers.progress(runId) || (await hasEnd(this.#options, runId))) return;
    if ((await this.#openRuns()).includes(runId)) this.#follow(runId);
  }

  async #forgetStored(): Promise<void> {
    const { store } = this.#options.storage;
    for (const { id, lastSeq } of this.subscribers.openRuns) {
      const stored = await store.getResponse(id);
      const isWhole = stored !== undefined && stored.status !== 'in_progress';
      if (isWhole && stored.lastSeq >= lastSeq) this.settled(id);
    }
  }
}
