import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { nothingToSteer } from '@liminal/agents';
import type { SessionExit, StoredTurn } from '@liminal/agents';
import { blobIn, DIRECTORIES_MAX, steeredItem } from '@liminal/protocol';
import type {
  EventDraft,
  ApprovalAnswer,
  AsideResult,
  ContentBlock,
  DirectoriesBody,
  DirectoriesResult,
  EventPayload,
  McpServers,
  NotifyBody,
  NotifyResult,
  McpAction,
  McpActionResult,
  McpServersResult,
  RewindOptions,
  RewindResult,
  Response,
  SendNowResult,
  SendResult,
  SessionInfo,
  SessionSetup,
  SessionState,
  SessionSummary,
  SteerResult,
  TraceContext,
} from '@liminal/protocol';
import type { SessionRecord } from '@liminal/storage';
import { blobGone, keepMessage } from '../blobs/index.ts';
import { Approvals } from './approvals.ts';
import {
  errorCode,
  errorMessage,
  RuntimeError,
  sessionDeleted,
  sessionGivenUp,
} from '../errors.ts';
import { hasBegun, HistoryReader, turnSaidIn } from '../history/index.ts';
import { OutsideTurns } from './outside-turns.ts';
import { rewindFailure, rewindNotice, tasksNotice } from './server-turns.ts';
import { turnsFrom } from './turns-from.ts';
import { SessionAgent } from './session-agent.ts';
import { SessionOutbox } from './session-outbox.ts';
import { type SessionReaders, WatchedSession } from '../readers/index.ts';
import { type SessionContext, sessionContext } from './session-context.ts';
import { SessionProject } from './session-project.ts';
import { type SessionRecordHolder, summarize } from './session-record.ts';
import type { UserMessage } from './message-queue.ts';
import { SessionTurns } from './session-turns.ts';
import type { SessionOptions } from './session-options.ts';

/** How long stopping an agent waits for the log to take the end of its turn, in ms. */
const END_WAIT_MS = 3_000;
/** How long an agent that is said to have ended its turn may take to say so itself, in ms. */
const OWN_END_MS = 100;

/** An empty queue can also be paused: a steered message that was not read may come back to it. */
const paused = { queuePaused: true };

const noFiles: RewindResult = { files: [], insertions: 0, deletions: 0 };

/** What comes with a message. */
export interface Said {
  blocks?: ContentBlock[] | undefined;
  /** Of the request that brings it. */
  traceContext?: TraceContext | undefined;
}

/**
 * One conversation: its queue, its agent, and the way of what the agent says to the log, the readers and history.
 */
export class Session {
  readonly sessionId: string;
  readonly view: WatchedSession;
  readonly history: HistoryReader;
  readonly #context: SessionContext;
  readonly #readers: SessionReaders;
  readonly #record: SessionRecordHolder;
  readonly #agent: SessionAgent;
  readonly #approvals: Approvals;
  readonly #turns: SessionTurns;
  readonly #outbox: SessionOutbox;
  readonly #outside: OutsideTurns;
  readonly #project: SessionProject;
  #isEnding = false;
  /** Another server, or a later start of this one, goes on with it. */
  #isGivenUp = false;
  #isDeleted = false;

  /** @param onChange - The session's summary has changed. */
  constructor(options: SessionOptions, onChange: (session: Session) => void) {
    const changed = (): void => {
      if (this.#isDeleted) return;
      this.#readers.infoChanged();
      onChange(this);
    };
    const context = sessionContext(options, {
      changed,
      onFault: (...fault) => this.#fault(...fault),
      turnIds: () => this.#turns.current?.ids,
    });
    const { supervisor } = context;
    this.#context = context;
    this.sessionId = context.sessionId;
    this.#record = context.record;
    this.history = new HistoryReader({ ...context, live: () => this.view });
    this.view = new WatchedSession({ ...context, history: this.history, info: () => this.info() });
    this.#readers = options.cluster?.readers(this) ?? this.view;
    this.#project = new SessionProject(context, {
      turn: () => this.#turns.current,
      say: (draft) => this.#hear(draft),
      onOver: () => this.#approvals.closeAll(),
    });
    this.#agent = new SessionAgent(context, this.#project, {
      onEvent: (draft) => this.#hear(draft),
      onExit: (exit) => this.#agentGone(exit),
      onTold: async (told) => this.#catchUp(told),
    });
    this.#outside = new OutsideTurns(context, this.#agent, () => this.#turns.isRunning);
    const asked = {
      answerApproval: async (...answer: Parameters<SessionAgent['answerApproval']>) => {
        if (!(await this.#project.answer(...answer))) await this.#agent.answerApproval(...answer);
      },
      wasAsked: async (approvalId: string) => this.#wasAsked(approvalId),
    };
    this.#approvals = new Approvals(context, asked, async () => this.#stopTurn());
    this.#turns = new SessionTurns(context, this.#readers, this.#approvals, {
      onSettled: (end) => this.#settled(end),
      onGivenUp: () => supervisor.start(async () => this.stopAgent()),
      onUnread: (...unread) => this.#outbox.unread(...unread),
    });
    this.#outbox = new SessionOutbox(context, this.#agent, this.#turns, {
      deliver: async (...message) => this.#deliver(...message),
      stop: async () => this.#stopTurn(),
      onTrouble: (error) => this.#undelivered(error),
    });
    // An earlier server may have ended before it could say so.
    if (this.record.tasks !== undefined) supervisor.start(async () => this.#tasksEnded());
  }

  get record(): SessionRecord {
    return this.#record.value;
  }

  get isAlive(): boolean {
    return this.#agent.isAlive;
  }

  /** The turn under way, or being brought into history. */
  get turnId(): string | undefined {
    return this.#turns.current?.turnId;
  }

  get isIdle(): boolean {
    return !this.#turns.current && !this.#outbox.isSending;
  }

  /** Whether its agent has something running beside the turns. */
  get hasTasks(): boolean {
    return this.#agent.hasTasks;
  }

  /** Whether a turn is under way that ends by itself; one that waits for a person may go on after the server's end. */
  get isWorking(): boolean {
    return !this.isIdle && !(this.#approvals.waiting && this.#agent.resumes);
  }

  /** Whether its agent or a turn is active. */
  get isInUse(): boolean {
    return this.#agent.isInUse || !this.isIdle;
  }

  /** How many permission requests of its agent wait for an answer. */
  get approvalsWaiting(): number {
    return this.#approvals.count;
  }

  get summary(): SessionSummary {
    const { waitingSince } = this.#approvals;
    const now = { state: this.#state, isAlive: this.isAlive };
    return { ...summarize(this.record), ...now, ...(waitingSince && { waitingSince }) };
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

  /** Lists the session as active. Starts no agent where none ran: a page may only be showing the session again. */
  async open(): Promise<void> {
    if (this.record.importedFrom) return;
    await this.#record.update({ active: true });
    const wasAlive = this.isAlive;
    if (this.isIdle) await this.#catchUp();
    if (wasAlive) this.prewarm();
    await this.goOn();
  }

  /** Goes on with a turn that waited for a person when agent or server ended; resolves when that is asked again. */
  async goOn(): Promise<void> {
    if (this.record.awaits !== true || this.#isGivenUp || this.#turns.isRunning) return;
    if (this.#context.serverEnds()) return;
    if (this.#agent.resumes) await this.#agent.start();
    await this.#record.update({ awaits: false });
  }

  /** Starts the agent ahead of the next message, where that saves time. */
  prewarm(): void {
    if (this.record.importedFrom || !this.#agent.prewarms || this.isAlive) return;
    this.#agent
      .start()
      .catch((error) => this.#context.warn(error, 'the agent could not be started ahead'));
  }

  /** Resolves when the message is bound to its turn or queued; a failed send rejects and leaves nothing behind. */
  async send(
    message: string,
    turnId: string = randomUUID(),
    beside: Said = {},
  ): Promise<SendResult> {
    if (this.#isEnding) throw sessionDeleted(this.sessionId);
    this.assertGoesOn();
    await this.goOn();
    return this.#outbox.send(await this.#said(message, beside), turnId);
  }

  /** Resolves when the turn that runs has the message, in the agent and in the log; said again, with the turn that has it. */
  async steer(message: string, messageId?: string, beside: Said = {}): Promise<SteerResult> {
    this.assertGoesOn();
    const said = await this.#said(message, beside);
    const turnId = messageId === undefined ? undefined : await this.#turnOf(messageId);
    if (turnId !== undefined) return { turnId };
    return this.#steer(said, messageId ?? randomUUID());
  }

  /** Without `blocks` the attachments stay. */
  async editQueued(
    turnId: string,
    message: string,
    blocks?: readonly ContentBlock[],
  ): Promise<void> {
    const kept = blocks && (await this.#keep(blocks));
    const left = kept ?? this.record.queue.find((one) => one.turnId === turnId)?.blocks ?? [];
    if (message === '' && left.length === 0) {
      const problem = 'The message would say nothing. Remove it from the queue instead.';
      throw new RuntimeError('INVALID_BODY', problem);
    }
    await this.#outbox.edit(turnId, { message, ...(kept && { blocks: kept }) });
  }

  async moveQueued(turnId: string, before?: string): Promise<void> {
    await this.#outbox.move(turnId, before);
  }

  async sendQueuedNow(turnId: string): Promise<SendNowResult> {
    return this.#outbox.sendNow(turnId, async (...message) => this.#steer(...message));
  }

  async removeQueued(turnId: string): Promise<void> {
    await this.#outbox.remove(turnId);
    // It is asked for the sake of a message.
    if (this.record.queue.length === 0) this.#project.cancel();
  }

  async resumeQueue(): Promise<void> {
    this.assertGoesOn();
    await this.goOn();
    await this.#agent.stopped();
    await this.#outbox.resume();
  }

  /** Stops the turn that runs or is about to begin, and pauses the queue: resolves when the store has that. */
  async cancel(): Promise<void> {
    await Promise.all([this.#hasNothing || this.#record.update(paused), this.#stopTurn()]);
  }

  /** Whether nothing runs and nothing waits. */
  get #hasNothing(): boolean {
    return this.isIdle && this.record.queue.length === 0;
  }

  async #stopTurn(): Promise<void> {
    const turn = this.#turns.current;
    if (!turn || turn.over) {
      this.#agent.stopSending();
      return this.#outbox.stopWhenSent();
    }
    turn.abort();
    if (!this.#project.cancel()) await this.#agent.cancel();
  }

  /** Ends the turn that runs as complete, if it is the one that is meant. Throws `NOTHING_TO_END`. */
  async notify({ turnId, agentTurnId }: NotifyBody): Promise<NotifyResult> {
    const turn = this.#turns.current;
    if (!turn || turn.over) throw nothingToEnd('No turn is running.');
    const isMeant =
      (turnId === undefined || turnId === turn.turnId) &&
      (agentTurnId === undefined || agentTurnId === this.#agent.turnId);
    if (!isMeant) {
      const asked = turnId ?? agentTurnId ?? '';
      throw nothingToEnd(`The turn that runs is not ${asked}, which may have ended by itself.`);
    }
    // The agent's own program has said so: what the agent has said itself may still be on its way.
    if (agentTurnId !== undefined) await Promise.race([turn.ended, setTimeout(OWN_END_MS)]);
    if (turn.over) throw nothingToEnd('The turn has ended by itself.');
    this.#turns.endNotified(turn);
    await Promise.race([turn.ended, setTimeout(END_WAIT_MS)]);
    return { turnId: turn.turnId };
  }

  /** What its agent is opened with. */
  opening(): ReturnType<SessionAgent['opening']> {
    return this.#agent.opening();
  }

  nameMcpServers(servers: McpServers): void {
    this.#agent.nameMcpServers(servers);
  }

  /**
   * Ends the agent and all that it started; a turn under way ends as cancelled, and the queue is paused. Whoever opens the
   * session again names its MCP servers again.
   */
  async kill(): Promise<void> {
    this.#agent.forgetMcpServers();
    this.#turns.current?.abort();
    const closed = { active: false, ...(!this.#hasNothing && paused) };
    await Promise.all([this.stopAgent(), this.#record.update(closed)]);
  }

  /**
   * Ends the agent when the server closes, or loses the session: nothing must start it here again. A turn that waits for a
   * person, and can, goes on where the session is opened next.
   */
  async shutDown(): Promise<void> {
    this.#isGivenUp = true;
    this.#outbox.close();
    this.#agent.retire(sessionGivenUp());
    // Left open, as after a crash: whoever recovers the run goes on with it.
    if (this.#approvals.waiting && this.#agent.resumes) this.#turns.close();
    await this.stopAgent();
  }

  /** The same as the server ends: a turn that nobody stopped then says why it is over. */
  async endWithServer(): Promise<void> {
    this.#turns.current?.endsWithServer();
    await this.shutDown();
  }

  /** Ends the turn under way as lost: this server no longer owns the session. */
  loseTurn(): void {
    this.#isGivenUp = true;
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

  async background(callId?: string): Promise<void> {
    await this.#agent.background(callId);
  }

  async stopTask(taskId: string): Promise<void> {
    await this.#agent.stopTask(taskId);
  }

  async mcpServers(): Promise<McpServersResult> {
    this.assertGoesOn();
    return { servers: await this.#agent.mcpServers() };
  }

  async changeMcpServer(name: string, action: McpAction): Promise<McpActionResult> {
    this.assertGoesOn();
    return this.#agent.changeMcpServer(name, action);
  }

  async aside(question: string): Promise<AsideResult> {
    this.assertGoesOn();
    return { answer: await this.#agent.aside(question) };
  }

  async setup(): Promise<SessionSetup> {
    this.assertGoesOn();
    const { facts, parts } = await this.#agent.setup();
    const { sessionId, projectDir, agentSessionId, additionalDirectories = [] } = this.record;
    const own = [
      { name: 'Session', value: sessionId },
      ...(agentSessionId ? [{ name: 'The agent’s own id', value: agentSessionId }] : []),
      { name: 'Folder', value: projectDir },
      ...additionalDirectories.map((value) => ({ name: 'Additional folder', value })),
    ];
    return { facts: [...own, ...facts], parts };
  }

  /** Throws `PROJECT_DIR_…`, `NOT_SUPPORTED`, `TURN_IN_PROGRESS`, `INVALID_OPTION`. */
  async changeDirectories({ add = [], remove = [] }: DirectoriesBody): Promise<DirectoriesResult> {
    this.assertGoesOn();
    const { projectDir, additionalDirectories: before = [] } = this.record;
    const kept = before.filter((each) => !remove.includes(each));
    const added = await this.#context.roots.admitBeside(projectDir, add);
    const folders = [...new Set([...kept, ...added])];
    if (folders.length > DIRECTORIES_MAX) {
      const message = `A session can have ${DIRECTORIES_MAX} additional folders. Take some away first.`;
      throw new RuntimeError('INVALID_OPTION', message);
    }
    if (folders.join('\0') !== before.join('\0')) {
      await this.#record.update({ additionalDirectories: folders });
      try {
        await this.#agent.setDirectories(folders);
      } catch (error) {
        await this.#record.update({ additionalDirectories: before });
        throw error;
      }
    }
    return { additionalDirectories: folders };
  }

  /** Throws `TURN_NOT_FOUND`, `TURN_IN_PROGRESS`, `TURN_TAKEN_BACK`, `CANNOT_REWIND`, `NO_CHECKPOINT`, `NOT_SUPPORTED`. */
  async rewind(
    turnId: string,
    { scope = 'files', dryRun = false }: RewindOptions,
  ): Promise<RewindResult> {
    this.assertGoesOn();
    const run = await this.#context.store.getResponse(turnId);
    if (run?.sessionId !== this.sessionId) {
      const message = `Session ${this.sessionId} does not have a turn ${turnId} that has ended.`;
      throw new RuntimeError('TURN_NOT_FOUND', message);
    }
    this.#assertIdle();
    await this.#catchUp();
    const files = scope === 'conversation' ? noFiles : await this.#agent.rewindFiles(turnId, true);
    const planned = { ...files, ...(scope !== 'files' && (await this.#wouldTakeBack(run))) };
    if (dryRun || (planned.files.length === 0 && planned.takenBack === undefined)) return planned;
    // Another one may have been faster.
    if (scope !== 'files') await this.#wouldTakeBack(run);
    this.#assertIdle();
    return this.#rewind(run, planned);
  }

  async #wouldTakeBack(run: Response): Promise<Pick<RewindResult, 'takenBack'>> {
    this.#agent.checkRewindsConversation();
    const heads = (await this.#context.store.listRuns(this.sessionId)) ?? [];
    return { takenBack: turnsFrom(run, heads) };
  }

  /** It is a turn of the server's: so no message comes in between, and the log says what was done. */
  async #rewind(run: Response, { takenBack, ...planned }: RewindResult): Promise<RewindResult> {
    const { turnId, say, turn } = this.#beginServerTurn();
    try {
      // First: an agent can refuse it.
      if (takenBack) {
        await this.#record.update({ rewound: true });
        await this.#agent.rewindConversation(takenBack.turnIds);
      }
      const files =
        planned.files.length === 0
          ? planned
          : await this.#agent.rewindFiles(run.turnId, false).catch((error: unknown) => {
              if (takenBack) return { ...noFiles, problem: errorMessage(error) };
              throw error;
            });
      const rewound = { ...files, ...(takenBack && { takenBack }) };
      for (const payload of rewindNotice(turnId, run, rewound, this.record.projectDir))
        say(payload);
      return rewound;
    } catch (error) {
      const problem = { code: errorCode(error), message: errorMessage(error) };
      say(rewindFailure(problem));
      throw error;
    } finally {
      if (turn) await Promise.race([turn.ended, setTimeout(END_WAIT_MS)]);
    }
  }

  #beginServerTurn() {
    const { cliType, iso } = this.#context;
    const turnId = randomUUID();
    const say = (payload: EventPayload): void =>
      this.#turns.hear({ turnId, timestamp: iso(), payload });
    say({ type: 'response_start', modelId: '', providerId: cliType, trigger: 'agent' });
    return { turnId, say, turn: this.#turns.current };
  }

  /** What ran beside the turns has ended with the agent: the conversation says so, once the log can. */
  async #tasksEnded(): Promise<void> {
    const { tasks: ended = [] } = this.record;
    if (ended.length === 0) return;
    const { turnId, say, turn } = this.#beginServerTurn();
    const titles = ended.map(({ title }) => title);
    for (const payload of tasksNotice(turnId, titles)) say(payload);
    if ((await turn?.ended) === undefined) return;
    const saidOf = new Set(ended.map(({ taskId }) => taskId));
    const tasks = (this.record.tasks ?? []).filter(({ taskId }) => !saidOf.has(taskId));
    await this.#record.update({ tasks });
  }

  /** Throws `NOT_SUPPORTED` for a session from a file. */
  assertGoesOn(): void {
    if (!this.record.importedFrom) return;
    const message =
      'This session was imported from a file: what its agent knows of it is not here, so it cannot go on. Start a new session.';
    throw new RuntimeError('NOT_SUPPORTED', message);
  }

  #assertIdle(): void {
    if (this.isIdle) return;
    const message = 'A turn is under way. Wait for its end, or stop it first.';
    throw new RuntimeError('TURN_IN_PROGRESS', message);
  }

  async answerApproval(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    await this.goOn();
    await this.#approvals.answer(approvalId, answer);
  }

  /** Whether the newest page of the conversation has a permission request: somebody who had the session before has it from there. */
  async #wasAsked(approvalId: string): Promise<boolean> {
    const { entries } = await this.history.page();
    return entries.some((entry) => entry.type === 'approval' && entry.approvalId === approvalId);
  }

  async setConfig(id: string, value: string): Promise<void> {
    this.assertGoesOn();
    // An agent may date its store by the setting, later than by what was done outside before.
    if (this.isIdle && this.#context.provider.numbersStoredTurns === true) await this.#catchUp();
    await this.#agent.setConfigOption(id, value);
    this.#outside.acted();
    await this.#record.update({ config: { ...this.record.config, [id]: value } });
  }

  async rename(title: string): Promise<void> {
    const former = this.record.title;
    await this.#record.change({ title }, (now) => (now.title === title ? { title: former } : {}));
    // The agent may be slow, and its title matters only to its own programs.
    void this.#agent.rename(title).then(() => this.#outside.acted());
  }

  /** Puts it away or back; keeps it at the top of lists or not. Its time stays. */
  async mark(marks: Pick<SessionRecord, 'archived' | 'pinned'>): Promise<void> {
    const { archived = false, pinned = false } = this.record;
    await this.#record.change(marks, () => ({ archived, pinned }));
  }

  /** History has got the turns of the agent's own store, which it lacked until now. */
  async historyBrought(runs: readonly Response[]): Promise<void> {
    await this.#record.update({ imported: true });
    this.#readers.historyGrew(runs, false);
  }

  /** Ends the agent and the turn under way for good, before the session is deleted. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#agent.retire(sessionDeleted(this.sessionId));
    await this.shutDown();
  }

  /** It has been deleted: nothing of it is shown any more, and its readers are told. */
  async deleted(): Promise<void> {
    this.#isDeleted = true;
    this.#readers.deleted();
    // A start that was under way may have ended only now.
    await this.#agent.stop();
  }

  /** Resolves when finished turns, and notes about them, have been stored. */
  settled = async (): Promise<void> => this.#outside.settled();

  /** Removes the agent's listeners and the readers. The agent must have been stopped. */
  async close(): Promise<void> {
    const reported = this.#agent.close();
    this.#turns.close();
    this.#approvals.closeAll();
    this.#readers.close();
    await reported;
    await this.#record.saved();
  }

  /**
   * Brings turns that were made outside into history. An agent that does not know them is stopped; the next one will.
   * A failure is only logged: the conversation goes on.
   */
  async #catchUp(told?: Promise<StoredTurn[]>): Promise<void> {
    try {
      const { runs, isAtEnd } = await this.#outside.bring(told);
      const last = runs.at(-1);
      if (!last) return;
      this.#record.keep({ updatedAt: new Date(last.updatedAt).toISOString() });
      this.#readers.historyGrew(runs, isAtEnd);
    } catch (error) {
      this.#context.warn(error, 'what was done outside could not be read');
    }
  }

  /** Resolves to false if people must be asked before, in a turn that has begun. */
  async #deliver(said: UserMessage, turnId: string, stored: Promise<void>): Promise<boolean> {
    this.#context.arrivals?.handsOn(turnId);
    const isDecided = this.#project.isDecided(this.#agent);
    await Promise.all([isDecided, stored, this.#catchUp(), this.#agent.admit()]);
    if (!(await isDecided)) return false;
    await this.#agent.send(said, turnId);
    return true;
  }

  #hear(draft: EventDraft): void {
    this.#turns.hear(this.#approvals.pass(draft));
    this.#outbox.hear(draft);
  }

  /** The turn of a message that was said before: the one in which it was, or its own. */
  async #turnOf(messageId: string): Promise<string | undefined> {
    const { store } = this.#context;
    for (;;) {
      const turn = this.#turns.current;
      if (this.#hasOwnTurn(messageId)) return messageId;
      // Its log may lack the message yet.
      if (turn?.hasSaid(steeredItem(turn.turnId, messageId)) === true) return undefined;
      if (await hasBegun(this.#context, this.record, messageId)) return messageId;
      const saidIn = await turnSaidIn(store, this.sessionId, messageId);
      // Another call may have said it meanwhile, in a turn that is over.
      if (saidIn !== undefined || this.#turns.current === turn) return saidIn;
    }
  }

  /** Whether a message has a turn of its own, or waits for it. */
  #hasOwnTurn(messageId: string): boolean {
    const { queue } = this.record;
    return (
      this.#turns.current?.turnId === messageId || queue.some(({ turnId }) => turnId === messageId)
    );
  }

  /** Calls for the same message say it once. */
  async #steer(said: UserMessage, messageId: string): Promise<SteerResult> {
    const turn = this.#turns.current;
    const itemId = steeredItem(turn?.turnId ?? '', messageId);
    if (!turn || (turn.over && !turn.hasSaid(itemId))) throw nothingToSteer();
    const { turnId } = turn;
    this.#outbox.says(itemId, messageId, said);
    await turn.say(itemId, async () => this.#agent.steer(said, { turnId, messageId }));
    return { turnId };
  }

  async #said(message: string, { blocks = [], traceContext }: Said): Promise<UserMessage> {
    const kept = await this.#keep(blocks);
    const trace = traceContext && { traceContext };
    return { message, ...(kept.length > 0 && { blocks: kept }), ...trace };
  }

  /** The blocks of a message, with their bytes kept for this session. */
  async #keep(blocks: readonly ContentBlock[]): Promise<ContentBlock[]> {
    if (blocks.length === 0) return [];
    const { blobs } = this.#context;
    const kept = await keepMessage(blobs, blocks);
    this.#agent.checkAccepts(kept);
    const hashes = kept.flatMap((block) => blobIn(block) ?? []);
    const missing = await blobs.hold(this.sessionId, hashes);
    if (missing.length > 0) throw blobGone();
    return kept;
  }

  #settled({ failed, interrupted }: { failed: boolean; interrupted: boolean }): void {
    const marks = { failed, ...(this.record.interrupted !== interrupted && { interrupted }) };
    const { limits } = this.#agent.told;
    const { usage } = this.#turns;
    const reported = { ...(usage && { usage }), ...(limits && { limits }) };
    const lastKnown = { ...this.record.lastKnown, ...reported };
    this.#record.keep({ ...marks, updatedAt: this.#context.iso(), lastKnown });
    this.#context.supervisor.start(async () => this.#outside.note());
    this.#outbox.next();
  }

  #undelivered(error: unknown): void {
    this.#context.warn(error, 'a queued message could not be sent');
    const problem = `A queued message could not be sent: ${errorMessage(error)}`;
    this.#readers.report(errorCode(error), problem);
    this.#record.keep({ failed: true });
  }

  /** After an unexpected error the turn and the agent end, and the session goes on. */
  #fault(error: unknown, sentence: string): void {
    this.#context.warn(error, 'a session went wrong; its agent is stopped');
    if (this.#turns.current) this.#turns.breakOff(sentence);
    else this.#readers.report('INTERNAL', sentence);
    this.stopAgent().catch((problem: unknown) =>
      this.#context.warn(problem, 'the agent would not end'),
    );
  }

  #agentGone(exit: SessionExit): void {
    this.#turns.agentGone(exit);
    this.#approvals.closeAll();
    // Of a session that is given up, the next owner says it.
    if (!this.#agent.isRetired) this.#context.supervisor.start(async () => this.#tasksEnded());
    this.#outbox.agentGone();
    this.#context.changed();
  }
}

function nothingToEnd(why: string): RuntimeError {
  return new RuntimeError('NOTHING_TO_END', why);
}
