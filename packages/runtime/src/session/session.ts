import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { agentErrors } from '@liminal/agents';
import type { SessionExit, StoredTurn } from '@liminal/agents';
import { blobIn, directoriesMax, steeredItemId } from '@liminal/protocol';
import type {
  ApprovalAnswer,
  AsideResult,
  BackgroundBody,
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
import { storeBlocks } from '../blobs/index.ts';
import type { SessionCommands } from '../commands.ts';
import { Approvals } from './approvals.ts';
import { errors, errorCode, errorMessage } from '../errors.ts';
import { hasBegun, HistoryReader, findSteeredTurn } from '../history/index.ts';
import { OutsideTurns } from './outside-turns.ts';
import { rewindFailure, rewindNotice, tasksNotice } from './server-turns.ts';
import { turnsFrom } from './turns-from.ts';
import { SessionAgent } from './session-agent.ts';
import { MessageQueue } from './message-queue.ts';
import { type SessionSubscribers, LocalSubscribers } from '../subscribers/index.ts';
import { type SessionContext, sessionContext } from './session-context.ts';
import { SessionProject } from './session-project.ts';
import { type SessionRecordHolder, summarize } from './session-record.ts';
import type { UserMessage } from './queued-messages.ts';
import { SessionTurns } from './session-turns.ts';
import type { SessionOptions } from './session-options.ts';

/** How long stopping an agent waits for the log to have the end of the agent's turn, in ms. */
const endWaitMs = 3_000;
/** How long to wait for the agent's own report of a turn's end after `liminal notify` has reported the end, in ms. */
const ownEndMs = 100;

/** An empty queue can also be paused: an unread steered message may be returned to the queue. */
const paused = { queuePaused: true };

const noFiles: RewindResult = { files: [], insertions: 0, deletions: 0 };

/** The attachments and the trace context of a message. */
interface MessageExtras {
  blocks?: ContentBlock[] | undefined;
  /** The trace context of the request that sent the message. */
  traceContext?: TraceContext | undefined;
}

interface CommandOption {
  /** If true, a message that begins with `!` is run as a command; if false, the `!` is escaped. */
  runCommand?: boolean | undefined;
}

/** Puts a space before a leading `!`, so that no agent runs a message from a program as a command. */
const escapeCommand = (message: string, { runCommand = false }: CommandOption): string =>
  message.startsWith('!') && !runCommand ? ` ${message}` : message;

/**
 * One conversation: its queue, its agent, and the path of the agent's output to the log, the subscribers and history.
 */
export class Session implements SessionCommands {
  readonly sessionId: string;
  readonly localSubscribers: LocalSubscribers;
  readonly history: HistoryReader;
  readonly #context: SessionContext;
  readonly #subscribers: SessionSubscribers;
  readonly #record: SessionRecordHolder;
  readonly #agent: SessionAgent;
  readonly #approvals: Approvals;
  readonly #turns: SessionTurns;
  readonly #queue: MessageQueue;
  readonly #outside: OutsideTurns;
  readonly #project: SessionProject;
  #isEnding = false;
  /** Whether another server, or this one after a restart, continues the session. */
  #isGivenUp = false;
  #isDeleted = false;

  /** @param onChange - Called when the session's summary has changed. */
  constructor(options: SessionOptions, onChange: (session: Session) => void) {
    const changed = (): void => {
      if (this.#isDeleted) return;
      this.#subscribers.infoChanged();
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
    this.history = new HistoryReader({ ...context, live: () => this.localSubscribers });
    this.localSubscribers = new LocalSubscribers({
      ...context,
      history: this.history,
      info: () => this.info(),
    });
    this.#subscribers = options.cluster?.subscribersOf(this) ?? this.localSubscribers;
    this.#project = new SessionProject(context, {
      turn: () => this.#turns.current,
      onDraft: (draft) => this.#turns.onDraft(draft),
      onOver: () => this.#approvals.closeAll(),
    });
    this.#agent = new SessionAgent(context, this.#project, {
      onDraft: (draft) => this.#turns.onDraft(draft),
      onExit: (exit) => this.#onAgentExit(exit),
      onTurnsReported: async (reported) => this.#catchUp(reported),
    });
    this.#outside = new OutsideTurns(context, this.#agent, () => this.#turns.isRunning);
    const approvalSource = {
      answerApproval: async (approvalId: string, answer: ApprovalAnswer) => {
        if (await this.#project.answer(approvalId, answer)) return;
        await this.#agent.method('answerApproval')(approvalId, answer);
      },
      wasAsked: async (approvalId: string) => this.#wasAsked(approvalId),
    };
    this.#approvals = new Approvals(context, approvalSource, async () => this.#stopTurn());
    this.#turns = new SessionTurns(context, this.#subscribers, this.#approvals, {
      queue: () => this.#queue,
      onSettled: (end) => this.#settled(end),
      onGivenUp: () => supervisor.start(async () => this.stopAgent()),
    });
    this.#queue = new MessageQueue(context, this.#agent, this.#turns, {
      deliver: async (...message) => this.#deliver(...message),
      stop: async () => this.#stopTurn(),
      onTrouble: (error) => this.#undelivered(error),
    });
    // An earlier server may have ended before it could report that its tasks had ended.
    if (this.record.tasks !== undefined) supervisor.start(async () => this.#tasksEnded());
  }

  get record(): SessionRecord {
    return this.#record.value;
  }

  get isAlive(): boolean {
    return this.#agent.isAlive;
  }

  /** The turn that is running, or being brought into history. */
  get turnId(): string | undefined {
    return this.#turns.current?.turnId;
  }

  get isIdle(): boolean {
    return !this.#turns.current && !this.#queue.isSending;
  }

  /** Whether the agent is running background tasks. */
  get hasTasks(): boolean {
    return this.#agent.hasTasks;
  }

  /**
   * Whether a turn is running that will end without a user. A turn that waits for a user, and that can resume, does not
   * count: such a turn may continue after this server has ended.
   */
  get isWorking(): boolean {
    return !this.isIdle && !(this.#approvals.isWaiting && this.#agent.resumes);
  }

  /** Whether the agent is running, starting or stopping, or a turn is active. */
  get isInUse(): boolean {
    return this.#agent.isInUse || !this.isIdle;
  }

  /** How many permission requests of the agent wait for an answer. */
  get approvalsWaiting(): number {
    return this.#approvals.count;
  }

  get summary(): SessionSummary {
    const { waitingSince } = this.#approvals;
    const now = { state: this.#state, isAlive: this.isAlive };
    return { ...summarize(this.record), ...now, ...(waitingSince && { waitingSince }) };
  }

  get #state(): SessionState {
    if (this.#approvals.isWaiting) return 'waiting';
    return this.#turns.current ? 'running' : summarize(this.record).state;
  }

  info(): SessionInfo {
    const { usage } = this.#turns;
    const { queue } = this.record;
    return { session: this.summary, queue, ...this.#agent.reported, ...(usage && { usage }) };
  }

  /**
   * Lists the session as active. If no agent was running, starts none: the client may only be showing the session
   * again.
   */
  async open(): Promise<void> {
    if (this.record.importedFrom) return;
    await this.#record.update({ active: true });
    const wasAlive = this.isAlive;
    if (this.isIdle) await this.#catchUp();
    if (wasAlive) await this.prewarm();
    await this.resume();
  }

  /**
   * Resumes a turn that waited for a user when the agent or the server ended. Resolves when the user's question is open
   * again.
   */
  async resume(): Promise<void> {
    if (this.record.awaits !== true || this.#isGivenUp || this.#turns.isRunning) return;
    if (this.#context.serverEnds()) return;
    const { failed, queuePaused } = this.record;
    if (this.#agent.resumes) await this.#agent.start();
    // Without `resumes`, the agent does not ask its question again; a user must continue the turn.
    const isInterrupted = !this.#agent.resumes && failed && queuePaused !== true;
    await this.#record.update({ awaits: false, ...(isInterrupted && { interrupted: true }) });
  }

  /** Starts the agent before the next message, if that saves time; does not wait for the start. */
  async prewarm(): Promise<void> {
    if (this.record.importedFrom || !this.#agent.prewarms || this.isAlive) return;
    this.#agent
      .start()
      .catch((error) => this.#context.warn(error, 'the agent could not be started in advance'));
  }

  /**
   * Sends or queues a message. Resolves when the message has begun its turn or is queued. If sending fails, removes the
   * message and rejects.
   */
  async send(
    message: string,
    turnId: string = randomUUID(),
    extras: MessageExtras & CommandOption = {},
  ): Promise<SendResult> {
    if (this.#isEnding) throw errors.SESSION_NOT_FOUND.deleted(this.sessionId);
    this.assertCanContinue();
    await this.resume();
    const text = escapeCommand(message, extras);
    return this.#queue.send(await this.#toUserMessage(text, extras), turnId);
  }

  /**
   * Steers a message. Resolves with the running turn when the agent and the log have the message. If the message was
   * sent before, resolves with the turn to which the message belongs.
   */
  async steer(
    message: string,
    messageId?: string,
    extras: MessageExtras = {},
  ): Promise<SteerResult> {
    this.assertCanContinue();
    const userMessage = await this.#toUserMessage(message, extras);
    const turnId = messageId === undefined ? undefined : await this.#turnOf(messageId);
    if (turnId !== undefined) return { turnId };
    return this.#steer(userMessage, messageId ?? randomUUID());
  }

  /** If `blocks` is undefined, the message keeps its attachments. */
  async editQueued(
    turnId: string,
    edited: string,
    { blocks, ...option }: Pick<MessageExtras, 'blocks'> & CommandOption = {},
  ): Promise<void> {
    const message = escapeCommand(edited, option);
    const storedBlocks = blocks && (await this.#storeBlocks(blocks));
    const left =
      storedBlocks ?? this.record.queue.find((one) => one.turnId === turnId)?.blocks ?? [];
    if (message === '' && left.length === 0) {
      throw errors.INVALID_BODY.emptyMessage();
    }
    await this.#queue.edit(turnId, { message, ...(storedBlocks && { blocks: storedBlocks }) });
  }

  async moveQueued(turnId: string, before?: string): Promise<void> {
    await this.#queue.move(turnId, before);
  }

  async sendQueuedNow(turnId: string): Promise<SendNowResult> {
    return this.#queue.sendNow(turnId, async (...message) => this.#steer(...message));
  }

  async removeQueued(turnId: string): Promise<void> {
    await this.#queue.remove(turnId);
    // The question about the project's settings is only asked before a message, so it is withdrawn if no message waits.
    if (this.record.queue.length === 0) this.#project.cancel();
  }

  async resumeQueue(): Promise<void> {
    this.assertCanContinue();
    await this.resume();
    await this.#agent.stopped();
    await this.#queue.resume();
  }

  /** Stops the turn that is running or about to begin, and pauses the queue; resolves when the pause is stored. */
  async cancel(): Promise<void> {
    await Promise.all([this.#hasNothing || this.#record.update(paused), this.#stopTurn()]);
  }

  /** Whether no turn runs and no message waits. */
  get #hasNothing(): boolean {
    return this.isIdle && this.record.queue.length === 0;
  }

  async #stopTurn(): Promise<void> {
    const turn = this.#turns.current;
    if (!turn || turn.isOver) {
      this.#agent.stopSending();
      return this.#queue.stopWhenSent();
    }
    turn.abort();
    if (!this.#project.cancel()) await this.#agent.cancel();
  }

  /** Ends the running turn as complete, if its id matches. Throws `NOTHING_TO_END`. */
  async notify({ turnId, agentTurnId }: NotifyBody = {}): Promise<NotifyResult> {
    const turn = this.#turns.current;
    if (!turn || turn.isOver) throw errors.NOTHING_TO_END.noTurn();
    const isMeant =
      (turnId === undefined || turnId === turn.turnId) &&
      (agentTurnId === undefined || agentTurnId === this.#agent.turnId);
    if (!isMeant) {
      throw errors.NOTHING_TO_END.other(turnId ?? agentTurnId ?? '');
    }
    // The agent's own program has called `liminal notify`, so the agent may still report the turn's end itself.
    if (agentTurnId !== undefined) await Promise.race([turn.ended, setTimeout(ownEndMs)]);
    if (turn.isOver) throw errors.NOTHING_TO_END.ended();
    this.#turns.endNotified(turn);
    await Promise.race([turn.ended, setTimeout(endWaitMs)]);
    return { turnId: turn.turnId };
  }

  /** Opens the new session at its agent, and stores its record. If either fails, the session is closed. */
  async create(): Promise<void> {
    const { held, store } = this.#context;
    try {
      await this.#agent.create();
      await store.saveSession(this.record);
    } catch (error) {
      await held.end().catch(() => undefined);
      await this.close();
      throw error;
    }
  }

  addMcpServers(servers: McpServers): void {
    this.#agent.addMcpServers(servers);
  }

  /**
   * Ends the agent and all processes that it started. A running turn ends as cancelled, and the queue is paused. A
   * client that opens the session again must add its MCP servers again.
   */
  async kill(): Promise<void> {
    this.#agent.forgetMcpServers();
    this.#turns.current?.abort();
    const closed = { active: false, ...(!this.#hasNothing && paused) };
    await Promise.all([this.stopAgent(), this.#record.update(closed)]);
  }

  /**
   * Ends the agent when the server closes, or loses the session; the agent must not be started on this server again. A
   * turn that waits for a user, and that can resume, continues on the server that opens the session next.
   */
  async shutDown(): Promise<void> {
    this.#isGivenUp = true;
    this.#queue.close();
    this.#agent.retire(errors.STALE_OWNER.givenUp());
    // The run stays open, as after a crash: the next server recovers and resumes it.
    if (this.#approvals.isWaiting && this.#agent.resumes) this.#turns.close();
    await this.stopAgent();
  }

  /**
   * Shuts the session down like `shutDown`, but a running turn ends with the error `SERVER_ENDED` unless a user stopped
   * it.
   */
  async endWithServer(): Promise<void> {
    this.#turns.current?.endsWithServer();
    await this.shutDown();
  }

  /** Ends the running turn as lost: this server no longer owns the session. */
  loseTurn(): void {
    this.#isGivenUp = true;
    this.#turns.lose();
  }

  /** Ends the agent only; the next message starts it again. */
  async stopAgent(): Promise<void> {
    const turn = this.#turns.current;
    await this.#agent.stop();
    turn?.endAsCancelled();
    // Do not wait longer: a log that rejects events must not delay the end of a process.
    if (turn) await Promise.race([turn.ended, setTimeout(endWaitMs)]);
  }

  async background({ callId }: BackgroundBody = {}): Promise<void> {
    await this.#agent.method('background')(callId);
  }

  async stopTask(taskId: string): Promise<void> {
    await this.#agent.method('stopTask')(taskId);
  }

  async mcpServers(): Promise<McpServersResult> {
    this.assertCanContinue();
    const list = await this.#agent.startFor('listMcpServers');
    return { servers: await list() };
  }

  async changeMcpServer(name: string, action: McpAction): Promise<McpActionResult> {
    this.assertCanContinue();
    const change = await this.#agent.startFor('changeMcpServer');
    return change(name, action);
  }

  async aside(question: string): Promise<AsideResult> {
    this.assertCanContinue();
    const ask = await this.#agent.startFor('aside');
    return { answer: await ask(question) };
  }

  async setup(): Promise<SessionSetup> {
    this.assertCanContinue();
    const setup = await this.#agent.startFor('setup');
    const { facts, parts } = await setup();
    const { sessionId, projectDir, agentSessionId, additionalDirectories = [] } = this.record;
    const own = [
      { name: 'Session', value: sessionId },
      ...(agentSessionId ? [{ name: 'The agent’s own session id', value: agentSessionId }] : []),
      { name: 'Folder', value: projectDir },
      ...additionalDirectories.map((value) => ({ name: 'Additional folder', value })),
    ];
    return { facts: [...own, ...facts], parts };
  }

  /** Throws `PROJECT_DIR_…`, `NOT_SUPPORTED`, `TURN_IN_PROGRESS`, `INVALID_OPTION`. */
  async changeDirectories({
    add = [],
    remove = [],
  }: DirectoriesBody = {}): Promise<DirectoriesResult> {
    this.assertCanContinue();
    const { projectDir, additionalDirectories: before = [] } = this.record;
    const kept = before.filter((each) => !remove.includes(each));
    const added = await this.#context.roots.admitAdditional(projectDir, add);
    const folders = [...new Set([...kept, ...added])];
    if (folders.length > directoriesMax) {
      throw errors.INVALID_OPTION.directories(directoriesMax);
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

  /**
   * Throws `TURN_NOT_FOUND`, `TURN_IN_PROGRESS`, `TURN_TAKEN_BACK`, `CANNOT_REWIND`, `NO_CHECKPOINT`, `NOT_SUPPORTED`.
   */
  async rewind(
    turnId: string,
    { scope = 'files', dryRun = false }: RewindOptions = {},
  ): Promise<RewindResult> {
    this.assertCanContinue();
    const run = await this.#context.store.getResponse(turnId);
    if (run?.sessionId !== this.sessionId) {
      throw errors.TURN_NOT_FOUND.notFinished(this.sessionId, turnId);
    }
    this.#assertIdle();
    await this.#catchUp();
    const files = scope === 'conversation' ? noFiles : await this.#agent.rewindFiles(turnId, true);
    const planned = { ...files, ...(scope !== 'files' && (await this.#wouldTakeBack(run))) };
    if (dryRun || (planned.files.length === 0 && planned.takenBack === undefined)) return planned;
    // Check again, because another rewind may have taken back this run in the meantime.
    if (scope !== 'files') await this.#wouldTakeBack(run);
    this.#assertIdle();
    return this.#rewind(run, planned);
  }

  async #wouldTakeBack(run: Response): Promise<Pick<RewindResult, 'takenBack'>> {
    this.#agent.assertSupports('rewindConversation');
    const heads = (await this.#context.store.listRuns(this.sessionId)) ?? [];
    return { takenBack: turnsFrom(run, heads) };
  }

  /** Rewinds in a server turn, so that no message can be sent during the rewind, and the log records the rewind. */
  async #rewind(run: Response, { takenBack, ...planned }: RewindResult): Promise<RewindResult> {
    const { turnId, emit, turn } = this.#beginServerTurn();
    try {
      // The conversation is rewound first, because an agent can reject that.
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
        emit(payload);
      return rewound;
    } catch (error) {
      const problem = { code: errorCode(error), message: errorMessage(error) };
      emit(rewindFailure(problem));
      throw error;
    } finally {
      if (turn) await Promise.race([turn.ended, setTimeout(endWaitMs)]);
    }
  }

  #beginServerTurn() {
    const { cliType, iso } = this.#context;
    const turnId = randomUUID();
    const emit = (payload: EventPayload): void =>
      this.#turns.write({ turnId, timestamp: iso(), payload });
    emit({ type: 'response_start', modelId: '', providerId: cliType, trigger: 'agent' });
    return { turnId, emit, turn: this.#turns.current };
  }

  /**
   * Reports in the conversation, as soon as the log accepts it, that background tasks have ended because their agent
   * ended.
   */
  async #tasksEnded(): Promise<void> {
    const { tasks: ended = [] } = this.record;
    if (ended.length === 0) return;
    const { turnId, emit, turn } = this.#beginServerTurn();
    const titles = ended.map(({ title }) => title);
    for (const payload of tasksNotice(turnId, titles)) emit(payload);
    if ((await turn?.ended) === undefined) return;
    const reportedIds = new Set(ended.map(({ taskId }) => taskId));
    const tasks = (this.record.tasks ?? []).filter(({ taskId }) => !reportedIds.has(taskId));
    await this.#record.update({ tasks });
  }

  /** Throws `NOT_SUPPORTED` for a session that was imported from a file. */
  assertCanContinue(): void {
    if (!this.record.importedFrom) return;
    throw errors.NOT_SUPPORTED.imported();
  }

  #assertIdle(): void {
    if (this.isIdle) return;
    throw errors.TURN_IN_PROGRESS.running();
  }

  async answerApproval(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    await this.resume();
    await this.#approvals.answer(approvalId, answer);
  }

  /**
   * Returns whether the newest page of the conversation has a permission request: clients may have received the request
   * from an earlier owner of the session.
   */
  async #wasAsked(approvalId: string): Promise<boolean> {
    const { entries } = await this.history.page();
    return entries.some((entry) => entry.type === 'approval' && entry.approvalId === approvalId);
  }

  async setConfig(id: string, value: string): Promise<void> {
    this.assertCanContinue();
    // Import outside turns first: this setting change may change the date of the agent's store, and the store's
    // `storedMark` would then no longer show the outside turns.
    if (this.isIdle && this.#context.driver.numbersStoredTurns === true) await this.#catchUp();
    await this.#agent.setConfigOption(id, value);
    this.#outside.recordChange();
    await this.#record.update({ config: { ...this.record.config, [id]: value } });
  }

  async rename(title: string): Promise<void> {
    const former = this.record.title;
    await this.#record.change({ title }, (now) => (now.title === title ? { title: former } : {}));
    // The agent's answer is not awaited: the agent may be slow, and Liminal does not show the agent's title.
    void this.#agent.rename(title).then(() => this.#outside.recordChange());
  }

  /** Archives or unarchives, pins or unpins the session, without changing its time. */
  async mark(marks: Pick<SessionRecord, 'archived' | 'pinned'>): Promise<void> {
    const { archived = false, pinned = false } = this.record;
    await this.#record.change(marks, () => ({ archived, pinned }));
  }

  /** Shows turns that were just imported into history from the agent's own store. */
  async historyImported(runs: readonly Response[]): Promise<void> {
    await this.#record.update({ imported: true });
    this.#subscribers.historyGrew(runs, false);
  }

  /** Ends the agent and the running turn for good, before the session is deleted. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#agent.retire(errors.SESSION_NOT_FOUND.deleted(this.sessionId));
    await this.shutDown();
  }

  /** Reports the deletion to the subscribers and stops the agent, after the session was deleted. */
  async deleted(): Promise<void> {
    this.#isDeleted = true;
    this.#subscribers.deleted();
    // A start of the agent that was in progress may have ended only now.
    await this.#agent.stop();
  }

  /**
   * Resolves when the import of outside turns is over, and both the imported turns and the `storedMark` of the agent's
   * store are stored.
   */
  settled = async (): Promise<void> => this.#outside.settled();

  /** Removes the agent's listeners and the subscribers. Stop the agent before calling this. */
  async close(): Promise<void> {
    const reported = this.#agent.close();
    this.#turns.close();
    this.#approvals.closeAll();
    this.#subscribers.close();
    await reported;
    await this.#record.saved();
  }

  /**
   * Imports turns that were made outside into history. If the running agent does not know these turns, stops the agent:
   * its next process reads them. A failure is only logged, and the conversation continues.
   */
  async #catchUp(reported?: Promise<StoredTurn[]>): Promise<void> {
    try {
      const { runs, isAtEnd } = await this.#outside.importNew(reported);
      const last = runs.at(-1);
      if (!last) return;
      this.#record.tryUpdate({ updatedAt: new Date(last.updatedAt).toISOString() });
      this.#subscribers.historyGrew(runs, isAtEnd);
    } catch (error) {
      this.#context.warn(error, 'turns made outside Liminal could not be imported');
    }
  }

  /**
   * Sends the message to the agent. Resolves with false if users must be asked first; the turn that asks them has then
   * begun.
   */
  async #deliver(message: UserMessage, turnId: string, stored: Promise<void>): Promise<boolean> {
    this.#context.messageSpans?.recordHandover(turnId);
    const isDecided = this.#project.isDecided(this.#agent);
    await Promise.all([isDecided, stored, this.#catchUp(), this.#agent.admit()]);
    if (!(await isDecided)) return false;
    await this.#agent.send(message, turnId);
    return true;
  }

  /**
   * The turn to which a message belongs: a turn of its own, or the turn into which it was steered. Undefined if the
   * message was not sent before, or is still being steered.
   */
  async #turnOf(messageId: string): Promise<string | undefined> {
    const { store } = this.#context;
    for (;;) {
      const turn = this.#turns.current;
      if (this.#hasOwnTurn(messageId)) return messageId;
      // The message is being steered, and the log may not have it yet.
      if (turn?.hasSteered(steeredItemId(turn.turnId, messageId)) === true) return undefined;
      if (await hasBegun(this.#context, this.record, messageId)) return messageId;
      const steeredInto = await findSteeredTurn(store, this.sessionId, messageId);
      // If another turn is running by now, look again: another call may have steered the message into the turn that is
      // now over.
      if (steeredInto !== undefined || this.#turns.current === turn) return steeredInto;
    }
  }

  /** Returns whether a message has begun a turn of its own, or is queued for one. */
  #hasOwnTurn(messageId: string): boolean {
    const { queue } = this.record;
    return (
      this.#turns.current?.turnId === messageId || queue.some(({ turnId }) => turnId === messageId)
    );
  }

  /** Steers a message; repeated calls for the same message steer it once. */
  async #steer(message: UserMessage, messageId: string): Promise<SteerResult> {
    const turn = this.#turns.current;
    const itemId = steeredItemId(turn?.turnId ?? '', messageId);
    if (!turn || (turn.isOver && !turn.hasSteered(itemId)))
      throw agentErrors.NOTHING_TO_STEER.noTurn();
    const { turnId } = turn;
    this.#queue.recordSteered(itemId, messageId, message);
    await turn.steer(itemId, async () => this.#agent.steer(message, { turnId, messageId }));
    return { turnId };
  }

  async #toUserMessage(
    message: string,
    { blocks = [], traceContext }: MessageExtras,
  ): Promise<UserMessage> {
    const storedBlocks = await this.#storeBlocks(blocks);
    const trace = traceContext && { traceContext };
    return { message, ...(storedBlocks.length > 0 && { blocks: storedBlocks }), ...trace };
  }

  /** Returns the blocks of a message, with their bytes stored for this session. */
  async #storeBlocks(blocks: readonly ContentBlock[]): Promise<ContentBlock[]> {
    if (blocks.length === 0) return [];
    const { blobs } = this.#context;
    const stored = await storeBlocks(blobs, blocks);
    this.#agent.checkAccepts(stored);
    const hashes = stored.flatMap((block) => blobIn(block) ?? []);
    const missing = await blobs.hold(this.sessionId, hashes);
    if (missing.length > 0) throw errors.BLOB_NOT_FOUND.ofMessage();
    return stored;
  }

  #settled({ failed, interrupted }: { failed: boolean; interrupted: boolean }): void {
    const marks = { failed, ...(this.record.interrupted !== interrupted && { interrupted }) };
    const { limits } = this.#agent.reported;
    const { usage } = this.#turns;
    const reported = { ...(usage && { usage }), ...(limits && { limits }) };
    const lastKnown = { ...this.record.lastKnown, ...reported };
    this.#record.tryUpdate({ ...marks, updatedAt: this.#context.iso(), lastKnown });
    this.#context.supervisor.start(async () => this.#outside.note());
    this.#queue.next();
  }

  #undelivered(error: unknown): void {
    this.#context.warn(error, 'a queued message could not be sent');
    const problem = `A queued message could not be sent: ${errorMessage(error)}`;
    this.#subscribers.report(errorCode(error), problem);
    this.#record.tryUpdate({ failed: true });
  }

  /** After an unexpected error, ends the turn and the agent; the session continues. */
  #fault(error: unknown, sentence: string): void {
    this.#context.warn(error, 'unexpected error in a session; its agent was stopped');
    if (this.#turns.current) this.#turns.breakOff(sentence);
    else this.#subscribers.report('INTERNAL', sentence);
    this.stopAgent().catch((problem: unknown) =>
      this.#context.warn(problem, 'the agent could not be stopped'),
    );
  }

  #onAgentExit(exit: SessionExit): void {
    this.#turns.onAgentExit(exit);
    this.#approvals.closeAll();
    // If this server has lost the session, the session's next owner reports this error.
    if (!this.#agent.isRetired) this.#context.supervisor.start(async () => this.#tasksEnded());
    this.#queue.onAgentExit();
    this.#context.changed();
  }
}
