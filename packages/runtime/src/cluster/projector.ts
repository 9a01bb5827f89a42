import { randomUUID } from 'node:crypto';
import type { Response, ResponseState, StreamEvent } from '@liminal/protocol';
import {
  emptyResponse,
  foldResponse,
  hasEnded,
  resumeResponse,
  toResponse,
} from '@liminal/protocol';
import type { Board, RunClaim, RunRegistry, UpsertStreams } from '@liminal/storage';
import { errorCode, errorMessage } from '../errors.ts';
import {
  endInHistory,
  hasEndInHistory,
  archiveEvents,
  readRun,
  type Storage,
} from '../history/index.ts';
import { defaultUpsertSettings, type Logger, type UpsertSettings } from '../settings.ts';
import { Stage, tracedStore, type Tracing } from '../tracing/index.ts';
import { retry } from '../retry.ts';
import { UpsertPublisher } from './upsert-publisher.ts';

interface ProjectorOptions {
  storage: Storage;
  registry: RunRegistry;
  board: Board;
  /** Receives upserts for subscribers in any language; without it, none are published. */
  upserts?: UpsertStreams;
  /** How upserts are published. */
  upsertSettings?: UpsertSettings;
  logger: Logger;
  /** Receives spans; without it, nothing is traced. */
  tracing?: Tracing;
}

/** Delay before a run is retried after its log or store has failed, in ms. */
const retryMs = 1_000;
/** How often a running turn is saved, in ms. If a projector dies, the next projector folds the unsaved events again. */
const snapshotMs = 1_000;
/** How long the posting that a run is in history stays on the board, in ms. */
const settledTtlMs = 60_000;

/** The prefix of the posting that a run is in history; its text is the session's id. */
export const settledPrefix = 'settled:';

/** Notifies every server that history has a run up to its end. */
export async function postSettled(
  board: Board,
  { runId, sessionId }: Pick<RunClaim, 'runId' | 'sessionId'>,
): Promise<void> {
  await board.post(settledPrefix + runId, sessionId, settledTtlMs);
}

/**
 * Projects runs from the log into history: snapshots while a run is running, and the complete run at its end. Then the
 * log drops the run. Any number of projectors share the runs. Two projectors may project the same run, but the run is
 * stored once.
 */
export class Projector {
  readonly #options: ProjectorOptions;
  readonly #closing = new AbortController();
  readonly #runs = new Set<ProjectedRun>();
  readonly #working: Promise<void>;

  constructor({ storage, ...options }: ProjectorOptions) {
    const store = tracedStore(storage.store, options.tracing);
    this.#options = { ...options, storage: { ...storage, store } };
    this.#working = this.#work();
  }

  /** The number of events of the running turns that are folded but not saved. */
  get unsaved(): number {
    return [...this.#runs].reduce((sum, { unsaved }) => sum + unsaved, 0);
  }

  /** Stops; other projectors continue with the open runs. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    const underWay = new Set<Promise<void>>();
    await this.#retry(async () => {
      for await (const claim of this.#options.registry.claims(randomUUID(), signal)) {
        const { runId, sessionId } = claim;
        const projecting = this.#retry(() => this.#project(claim), { sessionId, runId });
        underWay.add(projecting);
        void projecting.then(() => underWay.delete(projecting));
      }
    });
    await Promise.all(underWay);
  }

  /** Retries a step until it succeeds or the projector closes. */
  async #retry(step: () => Promise<void>, ids: object = {}): Promise<void> {
    const { signal } = this.#closing;
    const onTrouble = (error: unknown): void => {
      if (signal.aborted) return;
      const details = { ...ids, code: errorCode(error), error: errorMessage(error) };
      this.#options.logger.warn(details, 'a run could not be stored in history yet');
    };
    await retry(step, { signal, everyMs: retryMs, onTrouble });
  }

  async #project(claim: RunClaim): Promise<void> {
    const { log, store } = this.#options.storage;
    const { signal } = this.#closing;
    if (signal.aborted) return;
    const stored = await store.getResponse(claim.runId);
    const run = new ProjectedRun(stored ? resumeResponse(stored) : emptyResponse());
    const publisher = this.#publisherOf(run);
    let stage: Stage | undefined;
    this.#runs.add(run);
    try {
      for await (const event of log.follow(claim.runId, { after: run.state.lastSeq, signal })) {
        // After this projector had read the store, another projector has stored further events, so the log could drop
        // those events.
        if (event.seq > run.state.lastSeq + 1) throw new Error('The log lacks a part of the run.');
        stage ??= Stage.of(this.#options.tracing, event, 'projector');
        stage?.count('events', 1);
        const begun = performance.now();
        run.state = foldResponse(run.state, event);
        if (this.#options.storage.enabledArchive) run.unarchived.push(event);
        await publisher?.process(event);
        if (run.isDue(begun)) await this.#save(run, claim);
        stage?.took(performance.now() - begun);
      }
      if (signal.aborted) return;
      await this.#save(run, claim);
      await this.#finish(run, claim);
      await postSettled(this.#options.board, claim);
      await claim.done();
    } finally {
      stage?.end();
      await publisher?.close();
      this.#runs.delete(run);
    }
  }

  /** Creates a publisher whose failures are logged once per run, and never keep the run from history. */
  #publisherOf({ state }: ProjectedRun): Pick<UpsertPublisher, 'process' | 'close'> | undefined {
    const { upserts, upsertSettings: settings = defaultUpsertSettings, logger } = this.#options;
    if (!upserts) return undefined;
    let isReported = false;
    const onTrouble = (error: unknown): void => {
      if (isReported) return;
      isReported = true;
      const details = { code: errorCode(error), error: errorMessage(error) };
      logger.warn(details, 'upserts of a run could not be published');
    };
    const publish: UpsertStreams['publish'] = async (message) => upserts.publish(message);
    const publisherOptions = { publish, settings, onTrouble };
    const publisher = new UpsertPublisher({ ...publisherOptions, now: Date.now, from: state });
    return {
      process: async (event) => publisher.process(event).catch(onTrouble),
      close: async () => publisher.close(),
    };
  }

  /**
   * Settles a run of which no further events follow. If the run has not ended, either another projector has settled the
   * run, or the log has lost events.
   */
  async #finish({ state }: ProjectedRun, { runId }: RunClaim): Promise<void> {
    const { storage } = this.#options;
    if (hasEnded(state)) return storage.log.settle(runId);
    const open = (await storage.log.unsettled()).find((one) => one.runId === runId);
    if (open && (!open.ended || open.lastSeq > state.lastSeq)) {
      throw new Error('The log gave only a part of the run.');
    }
    if (await hasEndInHistory(storage, runId)) return;
    await endInHistory(storage, state, () => new Date().toISOString());
  }

  /**
   * Saves earlier runs first, because history shows a session's runs in the order of their first save. If the projector
   * of an earlier run is dead or late, and the agent has begun another run by itself, saves all events of the earlier
   * run that are in the log.
   */
  async #saveEarlier({ createdAt }: Response, claim: RunClaim): Promise<void> {
    const { storage } = this.#options;
    const earlier: Response[] = [];
    for (const runId of await claim.others()) {
      if (await storage.store.getResponse(runId)) continue;
      const run = toResponse(await readRun(storage, runId));
      if (!run || run.createdAt >= createdAt) continue;
      await archiveEvents(storage, runId);
      earlier.push(run);
    }
    for (const run of earlier.toSorted((a, b) => a.createdAt - b.createdAt)) {
      await storage.store.saveResponse(run);
    }
  }

  async #save(run: ProjectedRun, claim: RunClaim): Promise<void> {
    const response = toResponse(run.state);
    if (!response || run.unsaved === 0) return;
    if (run.isNew) await this.#saveEarlier(response, claim);
    // Archive the events before history has them: a projector that resumes from history does not read these events
    // again.
    await this.#options.storage.enabledArchive?.store(claim.runId, run.unarchived);
    run.unarchived = [];
    await this.#options.storage.store.saveResponse(response);
    run.saved(response.lastSeq, performance.now());
    await claim.projected(response.lastSeq);
  }
}

/** A run that is being projected into history. */
class ProjectedRun {
  state: ResponseState;
  /** Events since the last save, if events are archived. */
  unarchived: StreamEvent[] = [];
  #savedSeq: number;
  /** The time of the last save, on the clock of `performance.now()`. */
  #savedAt = Number.NEGATIVE_INFINITY;

  constructor(state: ResponseState) {
    this.state = state;
    this.#savedSeq = state.lastSeq;
  }

  /** Whether the store contains no event of the run yet. */
  get isNew(): boolean {
    return this.#savedSeq < 0;
  }

  /** The number of events that the store does not have yet. */
  get unsaved(): number {
    return this.state.lastSeq - this.#savedSeq;
  }

  isDue(now: number): boolean {
    return now - this.#savedAt >= snapshotMs;
  }

  saved(seq: number, now: number): void {
    this.#savedSeq = seq;
    this.#savedAt = now;
  }
}
