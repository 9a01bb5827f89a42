import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { CliProvider, SessionExit } from '@liminal/agents';
import type { SendResult, SessionInfo, SessionState, SessionSummary } from '@liminal/protocol';
import type { EventLog, ResponseStore, SessionRecord } from '@liminal/storage';
import { Approvals } from './approvals.ts';
import { errorCode, errorMessage } from './errors.ts';
import { HistoryReader } from './history.ts';
import { assertWaiting, enqueue, mark, remove, rewrite } from './message-queue.ts';
import { SessionAgent } from './session-agent.ts';
import { KeptRecord, summarize, titleOf } from './session-record.ts';
import { SessionTurns } from './session-turns.ts';
import { SessionView } from './session-view.ts';
import type { Logger, RuntimeSettings } from './settings.ts';

/** How long ending a session waits for the log to take the end of its turn, in ms. */
const END_WAIT_MS = 3_000;

export interface SessionOptions {
  record: SessionRecord;
  provider: CliProvider;
  log: EventLog;
  store: ResponseStore;
  settings: RuntimeSettings;
  logger: Logger;
  /** ms since the epoch. */
  now: () => number;
  /** Its summary has changed. */
  onChange: (session: Session) => void;
}

/**
 * One conversation: its queue, its agent, the way from what the agent says to the log, and from the log to
 * whoever watches and to history.
 */
export class Session {
  readonly sessionId: string;
  readonly view: SessionView;
  readonly history: HistoryReader;
  readonly #options: SessionOptions;
  readonly #record: KeptRecord;
  readonly #agent: SessionAgent;
  readonly #approvals: Approvals;
  readonly #turns: SessionTurns;
  /** A message is on its way from the queue's head to the agent's `response_start`. */
  #dispatching = false;
  /** Stop was asked for while the message was on its way. */
  #cancelWhenBound = false;
  /** The server ends. */
  #isClosing = false;

  constructor(options: SessionOptions) {
    const { record, store, provider, settings, now } = options;
    const { sessionId } = record;
    this.#options = options;
    this.sessionId = sessionId;
    this.#record = new KeptRecord(
      record,
      store,
      () => this.#changed(),
      (error) => this.#warn(error, 'the session could not be stored'),
    );
    this.history = new HistoryReader({
      sessionId,
      store,
      openRuns: () => this.view.openRuns,
      forgotten: () => this.view.forgotten,
      now: () => this.#iso(),
    });
    this.view = new SessionView({ sessionId, history: this.history, info: () => this.info(), now });
    this.#agent = new SessionAgent({
      provider,
      store,
      record: () => this.record,
      onEvent: (draft) => this.#turns.hear(this.#approvals.pass(draft)),
      onExit: (exit) => this.#agentGone(exit),
      onChange: () => this.#changed(),
      onNews: (change) => this.#record.keep(change),
    });
    this.#approvals = new Approvals({
      policy: settings.approvals,
      answer: async (...answer) => this.#agent.answerApproval(...answer),
      onChange: () => this.#changed(),
      onTrouble: (error) => this.#warn(error, 'a permission request could not be answered'),
    });
    this.#turns = new SessionTurns({
      ...options,
      sessionId,
      cliType: provider.cliType,
      view: this.view,
      waitsForPerson: () => this.#approvals.waiting,
      onBegun: () => this.#changed(),
      onSettled: (failed) => {
        this.#record.keep({ failed, updatedAt: this.#iso() });
        this.#next();
      },
      onGivenUp: () => void this.stopAgent(),
      warn: (error, message) => this.#warn(error, message),
    });
  }

  get record(): SessionRecord {
    return this.#record.value;
  }

  get isAlive(): boolean {
    return this.#agent.isAlive;
  }

  /** Nothing runs, nothing is on its way. */
  get isIdle(): boolean {
    return !this.#turns.current && !this.#dispatching;
  }

  get summary(): SessionSummary {
    return { ...summarize(this.record), state: this.#state, isAlive: this.isAlive };
  }

  get #state(): SessionState {
    if (this.#approvals.waiting) return 'waiting';
    return this.#turns.current ? 'running' : summarize(this.record).state;
  }

  info(): SessionInfo {
    const { configOptions, commands } = this.#agent;
    const { usage } = this.#turns;
    return {
      session: this.summary,
      queue: this.record.queue,
      configOptions,
      commands,
      ...(usage && { usage }),
    };
  }

  /** Lists the session as active, and starts its agent ahead where that saves time. */
  async open(): Promise<void> {
    await this.#record.update({ active: true });
    if (!this.#agent.prewarms) return;
    this.#agent.start().catch((error) => this.#warn(error, 'the agent could not be started ahead'));
  }

  /** Resolves when the message is bound to its turn or queued; a failed sending rejects and leaves nothing behind. */
  async send(message: string): Promise<SendResult> {
    const turnId = randomUUID();
    const queued = !this.isIdle || this.record.queue.length > 0;
    await this.#enqueue(turnId, message);
    if (queued) this.#next();
    else await this.#sendNow(turnId);
    return { turnId, queued };
  }

  async editQueued(turnId: string, message: string): Promise<void> {
    assertWaiting(this.record.queue, turnId);
    await this.#record.update({ queue: rewrite(this.record.queue, turnId, message) });
    this.#next();
  }

  async removeQueued(turnId: string): Promise<void> {
    assertWaiting(this.record.queue, turnId);
    await this.#record.update({ queue: remove(this.record.queue, turnId) });
  }

  async cancel(): Promise<void> {
    const turn = this.#turns.current;
    if (!turn) {
      this.#cancelWhenBound = this.#dispatching;
      return;
    }
    turn.abort();
    await this.#agent.cancel();
  }

  /** Ends the agent and all it has started; a turn under way ends as cancelled, and what is queued waits for a `send`. */
  async kill(): Promise<void> {
    await Promise.all([this.stopAgent(), this.#record.update({ active: false })]);
  }

  /** Ends the agent as the server ends: no message that waits may start it again. */
  async shutDown(): Promise<void> {
    this.#isClosing = true;
    await this.stopAgent();
  }

  /** Ends the agent only; the next message starts it again. */
  async stopAgent(): Promise<void> {
    const turn = this.#turns.current;
    await this.#agent.stop();
    turn?.cancelled();
    // A log that refuses events must not keep a process from being ended.
    if (turn) await Promise.race([turn.ended, setTimeout(END_WAIT_MS)]);
  }

  async answerApproval(...answer: Parameters<Approvals['answer']>): Promise<void> {
    await this.#approvals.answer(...answer);
  }

  async setConfig(id: string, value: string): Promise<void> {
    await this.#agent.setConfigOption(id, value);
    await this.#record.update({ config: { ...this.record.config, [id]: value } });
  }

  async rename(title: string): Promise<void> {
    await this.#record.update({ title });
  }

  /** Lets go of the agent's listeners and the readers. The agent must have been stopped. */
  async close(): Promise<void> {
    this.#agent.close();
    this.#turns.close();
    this.#approvals.closeAll();
    this.view.close();
    await this.#record.saved();
  }

  async #enqueue(turnId: string, message: string): Promise<void> {
    const { queue, title, active, failed, updatedAt } = this.record;
    const before = { title, active, failed, updatedAt };
    const now = this.#iso();
    const entry = { turnId, message, queuedAt: now, state: 'queued' } as const;
    const longer = enqueue(queue, entry, this.#options.settings.maxQueue);
    const named = title === '' ? titleOf(message) : title;
    const change = { queue: longer, title: named, active: true, failed: false, updatedAt: now };
    try {
      await this.#record.update(change);
    } catch (error) {
      // Whoever is told that it failed will send it again.
      this.#record.keep({ ...before, queue: remove(this.record.queue, turnId) });
      throw error;
    }
  }

  async #sendNow(turnId: string): Promise<void> {
    try {
      await this.#dispatch();
    } catch (error) {
      this.#record.keep({ queue: remove(this.record.queue, turnId) });
      this.#next();
      throw error;
    }
  }

  /** Sends the queue's head if nothing is in its way; its failure leaves it in the queue and is told. */
  #next(): void {
    const { active, queue } = this.record;
    const isEnding = this.#agent.isStopping || this.#isClosing || !active;
    if (isEnding || !this.isIdle || queue.length === 0) return;
    this.#dispatch().catch((error) => {
      this.#warn(error, 'a queued message could not be sent');
      const problem = `A queued message could not be sent: ${errorMessage(error)}`;
      this.view.report(errorCode(error), problem);
      this.#record.keep({ failed: true });
    });
  }

  async #dispatch(): Promise<void> {
    const [entry] = this.record.queue;
    if (!entry) return;
    const { turnId, message } = entry;
    this.#dispatching = true;
    try {
      await this.#record.update({ queue: mark(this.record.queue, turnId, 'sending') });
      await this.#agent.send(message, turnId);
      // The agent has it: whatever fails from here on, it must not get it again.
      this.#record.keep({ queue: remove(this.record.queue, turnId) });
      if (this.#cancelWhenBound) await this.cancel();
    } catch (error) {
      this.#record.keep({ queue: mark(this.record.queue, turnId, 'queued') });
      throw error;
    } finally {
      this.#dispatching = false;
      this.#cancelWhenBound = false;
      this.#changed();
    }
    // The turn may have ended while the queue was being stored.
    this.#next();
  }

  #agentGone(exit: SessionExit): void {
    this.#turns.agentGone(exit);
    this.#approvals.closeAll();
    this.#changed();
  }

  #changed(): void {
    this.view.infoChanged();
    this.#options.onChange(this);
  }

  #warn(error: unknown, message: string): void {
    const details = { sessionId: this.sessionId, code: errorCode(error) };
    this.#options.logger.warn({ ...details, error: errorMessage(error) }, message);
  }

  #iso(): string {
    return new Date(this.#options.now()).toISOString();
  }
}
