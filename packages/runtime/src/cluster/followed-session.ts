import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Position, SessionInfo } from '@liminal/protocol';
import { HistoryReader, readRun, type Storage } from '../history/index.ts';
import { WatchedSession } from '../readers/index.ts';
import { Supervisor } from '../turn/index.ts';
import { untilDone } from '../until-done.ts';
import { hasEnd, untilEndInHistory } from './end-in-history.ts';
import type { PostedState } from './posted-state.ts';

/** Delay before a run is read again after a failure, in ms. */
const RETRY_MS = 1_000;
/**
 * The longest time, in ms, that a subscriber waits for events that it has already seen on another server: the log may have lost them.
 */
const REACH_MS = 10_000;
const SETTLED_KEPT = 20;
/** How long a run that is in history may still be read from the log, in ms. */
const LEAVE_MS = 2_000;

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
interface Following {
  ended: Promise<void>;
  /** Stops reading from the log; subscribers get the rest from history. */
  leave: AbortController;
}

/**
 * A session as any server shows it: its runs read from the log, its state as its owner posts it. After a gap the run is
 * read again, and subscribers catch up from their cursors (invariant 7).
 */
export class FollowedSession {
  readonly view: WatchedSession;
  readonly history: HistoryReader;
  readonly #options: FollowedSessionOptions;
  readonly #closing = new AbortController();
  /** Runs that are being read from the log until they end. */
  readonly #followed = new Map<string, Following>();
  /** The newest run that subscribers here have seen; before there are subscribers, the newest run in history. */
  #newest: string | undefined;
  /** Runs that the log no longer has, until history has their ends. */
  readonly #ending = new Map<string, Promise<unknown>>();
  /** The newest runs that history has: later postings about them are ignored. */
  #settled: string[] = [];
  /** Emits `moved` when a followed run has a new event, or is no longer followed. */
  readonly #progress = new EventEmitter().setMaxListeners(0);
  #info: SessionInfo;
  #heard = 0;

  constructor(options: FollowedSessionOptions) {
    const { sessionId, storage, postedState, now } = options;
    this.#options = options;
    this.#info = postedState.info;
    this.history = new HistoryReader({
      sessionId,
      store: storage.store,
      live: () => this.view,
      reach: async (place) => this.#reach(place),
      iso: () => new Date(now()).toISOString(),
    });
    const info = (): SessionInfo => this.#info;
    const supervisor = new Supervisor(options.onTrouble);
    this.view = new WatchedSession({ sessionId, history: this.history, info, supervisor });
  }

  get info(): SessionInfo {
    return this.#info;
  }

  /** Reads the runs that history may lack. */
  async open(): Promise<void> {
    const { sessionId, storage } = this.#options;
    const runIds = await this.#openRuns();
    const { heads } = await storage.store.readItems(sessionId, { limit: 1 });
    this.#newest = heads.at(-1)?.id;
    await Promise.all(runIds.map((runId) => this.#catchUp(runId)));
    for (const runId of runIds) {
      if (this.view.progress(runId)) this.#newest = runId;
      this.#follow(runId);
    }
  }

  /** How many states were posted so far. */
  get heard(): number {
    return this.#heard;
  }

  /** Handles a state that the session's owner has posted. */
  posted({ info, runId }: PostedState): void {
    this.#heard += 1;
    this.#info = info;
    if (runId !== undefined) this.#follow(runId);
    this.view.infoChanged();
  }

  /** Handles the posting that history has the run. */
  settled(runId: string): void {
    const isNews = !this.#settled.includes(runId);
    this.#remember(runId);
    if (this.#followed.has(runId)) return void this.#leaveSoon(runId);
    const wasShown = this.view.progress(runId) !== undefined;
    this.view.forget(runId);
    // The run began and ended before this server knew of it.
    if (isNews && !wasShown) this.view.resync({ fromBeginning: true });
  }

  /** A followed run usually reaches its end. If the log has lost the end, subscribers get the rest from history. */
  async #leaveSoon(runId: string): Promise<void> {
    const following = this.#followed.get(runId);
    await delay(LEAVE_MS, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
    if (following === undefined || this.#followed.get(runId) !== following) return;
    following.leave.abort();
    await following.ended;
    this.view.resync({ fromBeginning: true });
  }

  #remember(runId: string): void {
    this.#settled = [...this.#settled.filter((one) => one !== runId), runId].slice(-SETTLED_KEPT);
  }

  /** Reads state and runs again, because postings may have been missed. */
  async mend(postedState: PostedState | undefined): Promise<void> {
    // First, because a later run must not move the cursors past runs that subscribers never saw.
    this.view.resync();
    if (postedState) this.posted(postedState);
    for (const runId of await this.#openRuns()) this.#follow(runId);
    await this.#forgetStored();
    this.view.resync();
  }

  /** Resolves when subscribers have the running turns up to their ends. */
  async read(): Promise<void> {
    await Promise.all([...this.#followed.values()].map(({ ended }) => ended));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#progress.emit('moved');
    this.view.close();
    await Promise.all([this.read(), ...this.#ending.values()]);
  }

  async #openRuns(): Promise<string[]> {
    const { sessionId, storage } = this.#options;
    const runs = await storage.log.unsettled();
    return runs.filter((run) => run.sessionId === sessionId).map(({ runId }) => runId);
  }

  /** Called before there are subscribers, so that the first one gets the newest state at once. */
  async #catchUp(runId: string): Promise<void> {
    const response = await readRun(this.#options.storage, runId);
    // A posting may have started following this run in the meantime; do not go back.
    if (this.view.progress(runId)) return;
    // Skips a run that has come into history in the meantime: that is posted only once.
    if (response.started && !this.#settled.includes(runId)) this.view.restart(runId, response);
  }

  #follow(runId: string): void {
    if (this.#followed.has(runId) || this.#settled.includes(runId)) return;
    if (this.view.progress(runId)?.hasEnded) return;
    const leave = new AbortController();
    const ended = this.#readToEnd(runId, leave.signal).then(() => {
      this.#followed.delete(runId);
      if (this.#settled.includes(runId)) this.view.forget(runId);
      this.#progress.emit('moved');
    });
    this.#followed.set(runId, { ended, leave });
  }

  async #readToEnd(runId: string, left: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, left]);
    // Otherwise cursors would be past the ends of those runs when the ends arrive.
    await Promise.all(this.#ending.values());
    const { onTrouble } = this.#options;
    await untilDone(async () => this.#read(runId, signal), {
      signal,
      everyMs: RETRY_MS,
      onTrouble,
    });
  }

  async #read(runId: string, signal: AbortSignal): Promise<void> {
    const { log } = this.#options.storage;
    const after = this.view.progress(runId)?.lastSeq ?? -1;
    let next = after + 1;
    for await (const event of log.follow(runId, { after, signal })) {
      if (!this.view.progress(runId)) {
        await this.#bringFromHistory(runId, signal);
        await this.#letEarlierEnd(runId, signal);
      }
      if (signal.aborted) return;
      if (event.seq > next) return this.#readAnew(runId, signal);
      next = event.seq + 1;
      this.view.apply([event]);
      this.#progress.emit('moved');
    }
    if (signal.aborted || this.view.progress(runId)?.hasEnded) return;
    const wasShown = this.view.progress(runId) !== undefined;
    // The run was settled before it was read completely: history has the rest. Subscribers get the rest at once, before
    // more of a later run.
    this.view.forget(runId);
    this.settled(runId);
    this.view.resync({ fromBeginning: true });
    const shown = this.#showEnd(runId, wasShown).then(() => this.#ending.delete(runId));
    this.#ending.set(runId, shown);
  }

  /** If the log has lost the run instead of dropping it, its end is written to history only now. */
  async #showEnd(runId: string, wasShown: boolean): Promise<void> {
    const { signal } = this.#closing;
    if (!wasShown && (await hasEnd(this.#options, runId))) return;
    await untilEndInHistory(this.#options, runId, signal);
    if (!signal.aborted) this.view.resync({ fromBeginning: true });
  }

  /** Reads the run from the store, because the log has dropped events that were not read yet. */
  async #readAnew(runId: string, signal: AbortSignal): Promise<void> {
    const response = await readRun(this.#options.storage, runId);
    if (signal.aborted) return;
    this.view.restart(runId, response);
    this.#progress.emit('moved');
    await this.#read(runId, signal);
  }

  /**
   * A run usually begins after the previous run has ended in history. Subscribers get the runs that they have not seen
   * from history, before an event of this run moves their cursors past them. The same holds for this run if history
   * already has its end: a subscriber that got the run from history must not see it begin again.
   */
  async #bringFromHistory(runId: string, signal: AbortSignal): Promise<void> {
    const { sessionId, storage } = this.#options;
    const from = this.#newest === undefined ? {} : { fromRunId: this.#newest };
    const heads = await storage.store.listRuns(sessionId, from);
    if (signal.aborted) return;
    const unseen = heads?.filter(
      ({ id, status }) => status !== 'in_progress' && !this.#isShown(id),
    );
    this.#newest = runId;
    for (const { id } of unseen ?? []) {
      this.#remember(id);
      this.#followed.get(id)?.leave.abort();
      this.view.forget(id);
    }
    if (unseen?.length !== 0) this.view.resync();
  }

  /**
   * Waits for the end of earlier runs: an agent may begin a run by itself when the previous run has ended but is not in
   * history yet.
   */
  async #letEarlierEnd(runId: string, signal: AbortSignal): Promise<void> {
    const followed = [...this.#followed.keys()];
    const earlier = followed.slice(0, followed.indexOf(runId));
    const isAnyOpen = () => earlier.some((id) => this.view.progress(id)?.hasEnded === false);
    await this.#moved(AbortSignal.any([signal, AbortSignal.timeout(REACH_MS)]), isAnyOpen);
  }

  /** Resolves when `isSo` is false or the signal aborts. Checks `isSo` whenever a followed run moves. */
  async #moved(patience: AbortSignal, isSo: () => boolean): Promise<void> {
    while (isSo() && !patience.aborted) {
      await once(this.#progress, 'moved', { signal: patience }).catch(() => undefined);
    }
  }

  /** Whether subscribers here have seen all of a run that has ended. */
  #isShown(runId: string): boolean {
    const run = this.view.progress(runId);
    return run ? run.hasEnded : runId === this.#newest && !this.#followed.has(runId);
  }

  /** Whether this server shows a run up to a place that another server has shown; waits for that if needed. */
  async #reach(place: Position): Promise<boolean> {
    if (!this.#isBehind(place)) await this.#hearOf(place);
    await this.#moved(AbortSignal.timeout(REACH_MS), () => this.#isBehind(place));
    // The view is closed and will not advance: the subscriber is about to lose this server, and continues at another.
    if (this.#closing.signal.aborted) await new Promise(() => {});
    return !this.#isBehind(place);
  }

  #isBehind({ runId, seq }: Position): boolean {
    if (this.#closing.signal.aborted) return false;
    const run = this.view.progress(runId);
    return run ? run.lastSeq < seq && !run.hasEnded : this.#followed.has(runId);
  }

  /** Follows a run of which other servers were notified first. */
  async #hearOf({ runId }: Position): Promise<void> {
    if (this.view.progress(runId) || (await hasEnd(this.#options, runId))) return;
    if ((await this.#openRuns()).includes(runId)) this.#follow(runId);
  }

  async #forgetStored(): Promise<void> {
    const { store } = this.#options.storage;
    for (const { id, lastSeq } of this.view.openRuns) {
      const stored = await store.getResponse(id);
      const isWhole = stored !== undefined && stored.status !== 'in_progress';
      if (isWhole && stored.lastSeq >= lastSeq) this.settled(id);
    }
  }
}
