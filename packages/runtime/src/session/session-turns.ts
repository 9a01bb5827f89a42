import type { SessionExit } from '@liminal/agents';
import {
  type EventDraft,
  isInterruption,
  isServerTurn,
  type QueuedMessage,
  type Response,
  type StreamEvent,
  toResponse,
  type TraceContext,
  type Usage,
} from '@liminal/protocol';
import { errorCode, errorMessage } from '../errors.ts';
import { endLostRun, archiveEvents, readRun } from '../history/index.ts';
import { meterTurn } from '../meter.ts';
import type { SessionSubscribers } from '../subscribers/index.ts';
import { Stage } from '../tracing/index.ts';
import { type SteeredMessage, Turn } from '../turn/index.ts';
import { retry } from '../retry.ts';
import type { Approvals } from './approvals.ts';
import { notifiedEnd } from './server-turns.ts';
import type { SessionContext } from './session-context.ts';

/** Delay before history is tried again after the store rejected a run, in ms. */
const retryMs = 2_000;

const ownerLostMessage =
  'The server lost this session while the turn was running. Everything up to then is kept.';

/** The queue of messages that begin turns or are steered into turns. */
interface TurnQueue {
  /** Called for each event of an agent's turn, except deltas, when the turn has processed the event. */
  onDraft(draft: EventDraft): void;
  /** Called for a steered message that was not read before its turn was stopped. */
  returnUnread(message: SteeredMessage, turnId: string): void;
}

interface SessionTurnsOptions {
  queue: () => TurnQueue;
  /** Called when a turn is over and, unless storing failed, in history. */
  onSettled: (end: { failed: boolean; interrupted: boolean }) => void;
  /** Called when a turn was ended before its agent ended it. The agent must then be stopped. */
  onGivenUp: () => void;
}

/** Routes the agent's drafts, turn by turn: into the log, then to subscribers, and finally into history. */
export class SessionTurns {
  readonly #context: SessionContext;
  readonly #subscribers: SessionSubscribers;
  readonly #approvals: Approvals;
  readonly #options: SessionTurnsOptions;
  #current: Turn | undefined;
  /** The last turn that began, even if the turn is over; without the turn's output. */
  #lastTurn: Pick<Turn, 'turnId' | 'promptLogged'> | undefined;
  #usage: Usage | undefined;
  /**
   * The session's total cost when its last turn ended, in US dollars; undefined until a turn on this server reports a
   * cost.
   */
  #cost: number | undefined;
  /** Runs to store in history, in order. */
  readonly #finished: Response[] = [];
  #projecting: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(
    context: SessionContext,
    subscribers: SessionSubscribers,
    approvals: Approvals,
    options: SessionTurnsOptions,
  ) {
    this.#context = context;
    this.#subscribers = subscribers;
    this.#approvals = approvals;
    this.#options = options;
    this.#usage = context.lastKnown?.usage;
  }

  /** The turn that is running, or being brought into history. */
  get current(): Turn | undefined {
    return this.#current;
  }

  get isRunning(): boolean {
    return this.#current !== undefined;
  }

  /** The newest usage counts from the agent. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Resolves when the log has a turn's user message; never resolves if the server closes first. */
  async logged(turnId: string): Promise<void> {
    // The promise never resolves for an unknown turn: its message went to an agent whose events are no longer received.
    await (this.#lastTurn?.turnId === turnId ? this.#lastTurn.promptLogged : new Promise(() => {}));
  }

  /** Handles a draft from the agent, or from a question to users. */
  onDraft(draft: EventDraft): void {
    // A delta concerns neither the approvals nor the queue.
    if (draft.payload.type === 'item_delta') return this.write(draft);
    this.write(this.#approvals.track(draft));
    this.#options.queue().onDraft(draft);
  }

  /** Writes a draft of an agent's turn or of a server turn. */
  write(draft: EventDraft): void {
    if (this.#current?.turnId !== draft.turnId && !this.#beginTurn(draft)) return;
    const { payload } = draft;
    if ('usage' in payload && payload.usage) this.#usage = { ...this.#usage, ...payload.usage };
    this.#current?.add(draft);
  }

  onAgentExit({ expected, code = 'PROCESS_CRASH', message }: SessionExit): void {
    if (expected) this.#current?.endAsCancelled();
    else this.#current?.fail(code, message ?? 'The agent’s process ended during the turn.');
  }

  /** Ends the turn because this server no longer owns the session. */
  lose(): void {
    this.#current?.fail('OWNER_LOST', ownerLostMessage);
  }

  /** Ends the turn after an internal error. */
  breakOff(message: string): void {
    this.#current?.breakOff('INTERNAL', message);
  }

  /**
   * Stops writing, because the server closes; events that the log has rejected so far are lost, and the loss is
   * logged.
   */
  close(): void {
    this.#closing.abort();
    const turn = this.#current;
    const { events, characters } = turn?.abandon() ?? { events: 0, characters: 0 };
    if (!turn || events === 0) return;
    const lost = `${events} events (${characters} characters) of turn ${turn.turnId} are lost`;
    this.#context.warn(
      'LOG_UNAVAILABLE',
      `${lost}: the log rejected them until the server stopped`,
    );
  }

  /** Begins a new turn if the draft is its `response_start`; other drafts outside a turn are dropped. */
  #beginTurn({ turnId, payload: { type } }: EventDraft): boolean {
    if (type !== 'response_start') {
      // When the server closes, an agent may still report the end of a turn that was left open for the next server.
      if (this.#closing.signal.aborted) return false;
      this.#context.warn(type, `an event outside its turn ${turnId} was dropped`);
      return false;
    }
    this.#current?.fail('PROTOCOL_ERROR', 'The agent began another turn before this one ended.');
    // A turn's message is in the queue until the log has it.
    const queued = this.#context.record.value.queue.find((entry) => entry.turnId === turnId);
    const turn = new Turn(this.#context, {
      turnId,
      parent: queued && this.#traceOf(queued),
      before: this.#current?.ended.then(() => undefined),
      waitsForPerson: () => this.#approvals.isWaiting,
      owns: async () => this.#owns(),
    });
    turn.on('logged', this.#onLogged);
    turn.on('refused', (error) => this.#logTrouble(error));
    turn.on('unread', (message) => this.#options.queue().returnUnread(message, turnId));
    turn.on('silent', () => this.#endSilent(turn));
    turn.on('overflow', () => this.#endUnlogged(turn));
    this.#current = turn;
    this.#lastTurn = { turnId, promptLogged: turn.promptLogged };
    this.#logInfo(turn, 'a turn has begun');
    this.#context.supervisor.start(async () => this.#settle(turn, await turn.ended));
    this.#context.changed();
    return true;
  }

  #traceOf(queued: QueuedMessage): TraceContext | undefined {
    const { messageSpans } = this.#context;
    return messageSpans ? messageSpans.recordTurnStart(queued) : queued.traceContext;
  }

  readonly #onLogged = (events: readonly StreamEvent[]): void => {
    this.#subscribers.apply(events);
    for (const { payload } of events) {
      if (!('usage' in payload) || !payload.usage) continue;
      this.#subscribers.infoChanged();
      break;
    }
  };

  #logInfo({ ids }: Turn, message: string, more: object = {}): void {
    const { logger, sessionId, cliType } = this.#context;
    logger.info({ sessionId, ...ids, cliType, ...more }, message);
  }

  #logTrouble(error: unknown): void {
    this.#context.warn(error, 'the log rejects events; they are kept and retried');
    const problem = `The agent’s output cannot be stored right now: ${errorMessage(error)}`;
    this.#subscribers.report(errorCode(error), `${problem} It is kept and retried.`);
  }

  async #settle(turn: Turn, response: Response | undefined): Promise<void> {
    try {
      if (response) {
        this.#context.supervisor.start(async () => this.#count(response));
        this.#finished.push(response);
        await (this.#projecting ??= this.#project());
      } else if (!this.#closing.signal.aborted) {
        await this.#endLost(turn);
      }
    } finally {
      if (this.#current === turn) this.#current = undefined;
    }
    this.#logInfo(turn, 'a turn has ended', response ? turnDetails(response) : { status: 'lost' });
    const hasFailed = response === undefined || response.status === 'error';
    // A server turn does not change the failed state that an agent's turn has set.
    const { record } = this.#context;
    const isOwn = isServerTurn(response ?? {});
    const had = {
      failed: isOwn && record.value.failed,
      interrupted: isOwn && record.value.interrupted,
    };
    this.#options.onSettled({
      failed: hasFailed || had.failed,
      interrupted: isInterruption(response?.error?.code) || had.interrupted === true,
    });
  }

  async #count(run: Response): Promise<void> {
    const { meter, cliType } = this.#context;
    if (!meter) return;
    const costBefore = await this.#costBefore(run);
    const turn = meterTurn(run, { cliType, costBefore });
    if (turn) meter.turnEnded(turn);
  }

  /**
   * Reads the session's cost from history once, to include the turns before this server had the session. If reading
   * fails, the turn counts no cost.
   */
  async #costBefore({ id, sessionId, usage }: Response): Promise<number | undefined> {
    const total = usage?.costUsd;
    if (total === undefined) return undefined;
    const before = this.#cost;
    this.#cost = total;
    if (before !== undefined) return before;
    const runs = await this.#context.store.listRuns(sessionId).catch(() => undefined);
    if (runs === undefined) return total;
    return runs.findLast((run) => run.id !== id && run.usage?.costUsd !== undefined)?.usage
      ?.costUsd;
  }

  /**
   * Moves finished runs into history; then the log drops the runs' events. If the store rejects a run, storing is
   * retried. Until the run is stored, the session counts as busy, so that no further runs wait for the store; the log
   * keeps the waiting runs for subscribers and for the next start.
   */
  async #project(): Promise<void> {
    await this.#retry('a finished run could not be stored yet', async () => {
      for (let [run] = this.#finished; run; [run] = this.#finished) {
        await this.#storeInHistory(run);
        this.#subscribers.forget(run.id);
        this.#finished.shift();
      }
    });
    this.#projecting = undefined;
  }

  async #storeInHistory(run: Response): Promise<void> {
    const { cluster, store, log, record, tracing } = this.#context;
    // Save the record first: if the run returned a message to the queue, only the log and the record have that message.
    await record.saved();
    if (cluster) return cluster.project(run, this.#closing.signal);
    const saveRun = async (): Promise<void> => {
      await store.saveResponse(run);
      await archiveEvents(this.#context, run.id);
      await log.settle(run.id);
    };
    const { id: runId, traceContext, lastSeq } = run;
    const stage = Stage.of(tracing, { runId, traceContext }, 'projector');
    if (!stage) return saveRun();
    stage.count('events', lastSeq + 1);
    await stage.work(saveRun);
    stage.end();
  }

  /**
   * Ends a run that this writer has lost, because the log has other events of the run. Otherwise the run would stay
   * open.
   */
  async #endLost({ written }: Turn): Promise<void> {
    const { iso } = this.#context;
    this.#options.onGivenUp();
    await this.#retry('a lost run could not be ended yet', async () => {
      await endLostRun(this.#context, written, await this.#owns(), iso);
      await this.#showLost(written.runId);
    });
  }

  /** Shows subscribers a run's end that is in the log or in history, but that this server never sent to them. */
  async #showLost(runId: string): Promise<void> {
    const { cluster, store, log } = this.#context;
    // In a cluster, the projector stores the run, and FollowedSession shows it.
    if (cluster) return;
    const run = toResponse(await readRun({ log, store }, runId));
    if (run) {
      await store.saveResponse(run);
      await archiveEvents(this.#context, runId);
      await log.settle(runId);
    }
    this.#subscribers.forget(runId);
    this.#subscribers.historyGrew([], false);
  }

  /** Returns whether this server still owns the session. */
  async #owns(): Promise<boolean> {
    const { cluster, sessionId } = this.#context;
    return cluster === undefined || cluster.owns(sessionId);
  }

  async #retry(trouble: string, step: () => Promise<void>): Promise<void> {
    const onTrouble = (error: unknown): void => this.#context.warn(error, trouble);
    await retry(step, { signal: this.#closing.signal, everyMs: retryMs, onTrouble });
  }

  /** Ends the turn as complete, because `liminal notify` has reported its end. */
  endNotified(turn: Turn): void {
    const { turnId } = turn;
    const timestamp = this.#context.iso();
    for (const payload of notifiedEnd(turnId)) turn.add({ turnId, timestamp, payload });
    this.#options.onGivenUp();
  }

  #endSilent(turn: Turn): void {
    const limit = durationText(this.#context.settings.idleLimitMs);
    const message = `The agent said nothing for ${limit}, so the turn was ended.`;
    turn.fail('IDLE_TIMEOUT', message);
    this.#options.onGivenUp();
  }

  #endUnlogged(turn: Turn): void {
    const message =
      'The agent’s output could not be stored for too long, so the turn was ended. Free some space on the disk.';
    turn.fail('LOG_UNAVAILABLE', message);
    this.#context.warn(
      'LOG_UNAVAILABLE',
      'a turn was ended: too many of its events wait for the log',
    );
    this.#subscribers.report('LOG_UNAVAILABLE', message);
    this.#options.onGivenUp();
  }
}

/** How a turn has ended, for the server's log. */
function turnDetails({ status, modelId, error, createdAt, updatedAt }: Response) {
  return { status, modelId, ...(error && { code: error.code }), ms: updatedAt - createdAt };
}

/** A duration in words, for example `1 minute` or `0.5 seconds`. */
function durationText(ms: number): string {
  const [count, unit] = ms < 60_000 ? [ms / 1_000, 'second'] : [Math.round(ms / 60_000), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
