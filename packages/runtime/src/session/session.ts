import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { SessionExit, StoredTurn } from '@liminal/agents';
import type {
  ApprovalAnswer,
  SendResult,
  SessionInfo,
  SessionState,
  SessionSummary,
} from '@liminal/protocol';
import type { SessionRecord } from '@liminal/storage';
import { Approvals } from './approvals.ts';
import { errorCode, errorForLog, errorMessage } from '../errors.ts';
import { endLostRun, HistoryReader } from '../history/index.ts';
import { OutsideTurns } from './outside-turns.ts';
import { SessionAgent } from './session-agent.ts';
import { SessionOutbox } from './session-outbox.ts';
import { type SessionReaders, SessionView } from '../readers/index.ts';
import { SessionRecordHolder, summarize } from './session-record.ts';
import { SessionTurns } from './session-turns.ts';
import { Supervisor } from '../turn/index.ts';
import type { SessionOptions } from './session-options.ts';

/** How long ending a session waits for the log to take the end of its turn, in ms. */
const END_WAIT_MS = 3_000;

/**
 * One conversation: its queue, its agent, the way from what the agent says to the log, and from the log to
 * whoever watches and to history.
 */
export class Session {
  readonly sessionId: string;
  readonly view: SessionView;
  readonly history: HistoryReader;
  readonly #options: SessionOptions;
  readonly #readers: SessionReaders;
  readonly #record: SessionRecordHolder;
  readonly #agent: SessionAgent;
  readonly #approvals: Approvals;
  readonly #turns: SessionTurns;
  readonly #outbox: SessionOutbox;
  readonly #outside: OutsideTurns;
  /** The server ends. */
  #isClosing = false;

  constructor(options: SessionOptions) {
    const { record, store, provider, settings, now } = options;
    const { sessionId, cliType } = record;
    this.#options = options;
    this.sessionId = sessionId;
    const unstored = (error: unknown): void => this.#warn(error, 'the session could not be stored');
    this.#record = new SessionRecordHolder(record, store, () => this.#changed(), unstored);
    this.history = new HistoryReader({
      sessionId,
      store,
      live: () => this.view,
      now: () => this.#iso(),
    });
    const supervisor = new Supervisor((...fault) => this.#fault(...fault));
    const info = (): SessionInfo => this.info();
    this.view = new SessionView({ sessionId, history: this.history, info, now, supervisor });
    this.#readers = options.cluster?.readers(this) ?? this.view;
    this.#agent = new SessionAgent({
      ...options,
      record: () => this.record,
      onEvent: (draft) => supervisor.run(() => this.#turns.hear(this.#approvals.pass(draft))),
      onExit: (exit) => supervisor.run(() => this.#agentGone(exit)),
      onChange: () => supervisor.run(() => this.#changed()),
      onTold: async (told) => this.#catchUp(told),
      onNotice: (notice) => options.logger.warn({ sessionId, cliType: provider.cliType }, notice),
      onNews: (change) => this.#record.keep(change),
    });
    this.#outside = new OutsideTurns({
      provider,
      store,
      record: this.#record,
      agent: this.#agent,
      inTurn: () => this.#turns.current !== undefined,
    });
    this.#approvals = new Approvals({
      policy: settings.approvals,
      answer: async (approvalId, answer) => this.#agent.answerApproval(approvalId, answer),
      onChange: () => this.#changed(),
      onTrouble: (error) => this.#warn(error, 'a permission request could not be answered'),
    });
    this.#turns = new SessionTurns({
      ...options,
      sessionId,
      cliType,
      readers: this.#readers,
      project: options.cluster?.project,
      owns: async () => (await options.cluster?.owns(sessionId)) ?? true,
      endLost: async (run, isOwner) =>
        endLostRun({ ...options, ...options.cluster }, run, isOwner, () => this.#iso()),
      waitsForPerson: () => this.#approvals.waiting,
      onBegun: () => this.#changed(),
      onSettled: (failed) => {
        this.#record.keep({ failed, updatedAt: this.#iso() });
        supervisor.start(async () => this.#outside.note());
        this.#outbox.next();
      },
      supervisor,
      onGivenUp: () => supervisor.start(async () => this.stopAgent()),
      warn: (error, message) => this.#warn(error, message),
    });
    this.#outbox = new SessionOutbox({
      record: this.#record,
      maxQueue: settings.maxQueue,
      now: () => this.#iso(),
      inTurn: () => this.#turns.current !== undefined,
      isEnding: () => this.#agent.isStopping || this.#isClosing,
      deliver: async (...message) => {
        await this.#catchUp();
        await this.#agent.send(...message);
      },
      logged: async (turnId) => this.#turns.logged(turnId),
      stop: async () => this.cancel(),
      onChange: () => this.#changed(),
      onTrouble: (error) => this.#undelivered(error),
    });
  }

  get record(): SessionRecord {
    return this.#record.value;
  }

  get isAlive(): boolean {
    return this.#agent.isAlive;
  }

  /** The turn under way, or on its way into history. */
  get turnId(): string | undefined {
    return this.#turns.current?.turnId;
  }

  get isIdle(): boolean {
    return !this.#turns.current && !this.#outbox.isSending;
  }

  /** Whether it has more to do than to be looked at. */
  get isInUse(): boolean {
    return this.#agent.isInUse || !this.isIdle;
  }

  get summary(): SessionSummary {
    const { waitingSince } = this.#approvals;
    const standing = { state: this.#state, isAlive: this.isAlive };
    return { ...summarize(this.record), ...standing, ...(waitingSince && { waitingSince }) };
  }

  get #state(): SessionState {
    if (this.#approvals.waiting) return 'waiting';
    return this.#turns.current ? 'running' : summarize(this.record).state;
  }

  info(): SessionInfo {
    const { usage } = this.#turns;
    const { queue } = this.record;
    return { session: this.summary, queue, ...this.#agent.told, ...(usage && { usage }) };
  }

  /** Lists the session as active. Starts nothing: it may be a page that shows again what it showed before. */
  async open(): Promise<void> {
    await this.#record.update({ active: true });
    const wasAlive = this.isAlive;
    if (this.isIdle) await this.#catchUp();
    if (wasAlive) this.prewarm();
  }

  /** Starts its agent ahead of the message that somebody is about to send, where that saves time. */
  prewarm(): void {
    if (!this.#agent.prewarms || this.isAlive) return;
    this.#agent.start().catch((error) => this.#warn(error, 'the agent could not be started ahead'));
  }

  /** Resolves when the message is bound to its turn or queued; a failed sending rejects and leaves nothing behind. */
  async send(message: string, turnId: string = randomUUID()): Promise<SendResult> {
    return this.#outbox.send(message, turnId);
  }

  async editQueued(turnId: string, message: string): Promise<void> {
    await this.#outbox.edit(turnId, message);
  }

  async removeQueued(turnId: string): Promise<void> {
    await this.#outbox.remove(turnId);
  }

  async cancel(): Promise<void> {
    const turn = this.#turns.current;
    if (!turn || turn.over) return this.#outbox.stopWhenSent();
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

  /** Ends the turn under way as lost: the session is not this server's any more. */
  loseTurn(): void {
    this.#turns.lose();
  }

  /** Ends the agent only; the next message starts it again. */
  async stopAgent(): Promise<void> {
    const turn = this.#turns.current;
    await this.#agent.stop();
    turn?.cancelled();
    // A log that refuses events must not keep a process from being ended.
    if (turn) await Promise.race([turn.ended, setTimeout(END_WAIT_MS)]);
  }

  async answerApproval(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    await this.#approvals.answer(approvalId, answer);
  }

  async setConfig(id: string, value: string): Promise<void> {
    await this.#agent.setConfigOption(id, value);
    await this.#record.update({ config: { ...this.record.config, [id]: value } });
  }

  async rename(title: string): Promise<void> {
    const former = this.record.title;
    await this.#record.change({ title }, (now) => (now.title === title ? { title: former } : {}));
  }

  /** Resolves when what is over has been stored, with what was noted of it. */
  settled = async (): Promise<void> => this.#outside.settled();

  /** Lets go of the agent's listeners and the readers. The agent must have been stopped. */
  async close(): Promise<void> {
    this.#agent.close();
    this.#turns.close();
    this.#approvals.closeAll();
    this.#readers.close();
    await this.#record.saved();
  }

  /**
   * Brings history up to date with what was done outside; an agent that does not know it is ended, and the next one will.
   * What cannot be read is told in the log only: the conversation goes on.
   */
  async #catchUp(told?: Promise<StoredTurn[]>): Promise<void> {
    try {
      const { runs, isAtEnd } = await this.#outside.bring(told);
      const last = runs.at(-1);
      if (!last) return;
      this.#record.keep({ updatedAt: new Date(last.updatedAt).toISOString() });
      this.#readers.historyGrew(runs, isAtEnd);
    } catch (error) {
      this.#warn(error, 'what was done outside could not be read');
    }
  }

  #undelivered(error: unknown): void {
    this.#warn(error, 'a queued message could not be sent');
    const problem = `A queued message could not be sent: ${errorMessage(error)}`;
    this.#readers.report(errorCode(error), problem);
    this.#record.keep({ failed: true });
  }

  /** Ours, or the agent's in a way that nothing here foresaw: its turn ends, its agent too, and the session goes on. */
  #fault(error: unknown, sentence: string): void {
    this.#warn(error, 'a session went wrong; its agent is stopped');
    if (this.#turns.current) this.#turns.breakOff(sentence);
    else this.#readers.report('INTERNAL', sentence);
    this.stopAgent().catch((problem: unknown) => this.#warn(problem, 'the agent would not end'));
  }

  #agentGone(exit: SessionExit): void {
    this.#turns.agentGone(exit);
    this.#approvals.closeAll();
    this.#changed();
  }

  #changed(): void {
    this.#readers.infoChanged();
    this.#options.onChange(this);
  }

  #warn(error: unknown, message: string): void {
    const details = { sessionId: this.sessionId, code: errorCode(error) };
    this.#options.logger.warn({ ...details, error: errorForLog(error) }, message);
  }

  #iso(): string {
    return new Date(this.#options.now()).toISOString();
  }
}
