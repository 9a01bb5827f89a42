import { randomUUID } from 'node:crypto';
import type {
  ApprovalAnswer,
  ApprovalOutcome,
  ContentBlock,
  EventDraft,
  McpAction,
  McpActionResult,
  McpServerState,
  SessionSetup,
} from '@liminal/protocol';
import { asError, headOf, linkedMentions, thrownMessage, sizeOf } from '@liminal/protocol';
import { answerLocally } from '../../base/local-answer.ts';
import { isRecord } from '../../base/parse-line.ts';
import { isoNow as now } from '../../base/iso-clock.ts';
import { PendingApprovals } from '../../base/pending-approvals.ts';
import { commandsForbidden, userCommandIn } from '../../base/user-command.ts';
import { ProtocolBreach } from '../../base/protocol-breach.ts';
import { type Trigger, type TurnEnd, TurnWriter } from '../../base/turn-writer.ts';
import type { AgentSession, SessionOutput } from '../../contract/driver.ts';
import type { SteerTarget } from '../../contract/provider.ts';
import type { ConversationRewind } from '../../contract/provider.ts';
import { revertThread } from './stored-threads.ts';
import type { Ask } from '../../base/elicitations.ts';
import { errors, ProviderError } from '../../contract/errors.ts';
import type { AppServer, HostedThread, OpenThread } from './app-server.ts';
import { askAside } from './aside.ts';
import { BackgroundWork } from './background-work.ts';
import { answerFor, requestFor, wordsToPlan } from './commands.ts';
import { type AfterPlan, afterPlan, implementPlan, planIn, preparePlan } from './plan-question.ts';
import { changeMcpServer, listMcpServers } from './mcp-status.ts';
import { withPicture } from './pictures.ts';
import { accepted, codexInput } from './prompt.ts';
import { CodexRequests } from './requests.ts';
import type { Rollouts } from './rollouts.ts';
import { SessionState, type SessionStateOptions, type InitialSettings } from './session-state.ts';
import type { Offer, Opened } from './settings.ts';
import { readSetup } from './setup.ts';
import { noticeOf } from './translate/notices.ts';
import { CodexTurn, hasFailed, isCompleted } from './translate/turn.ts';

type Params = Record<string, unknown>;

/** The data that opening a session again needs. */
export interface CodexMemory {
  config: Record<string, string>;
}

interface RunningTurn {
  turnId: string;
  writer: TurnWriter;
  turn: CodexTurn;
  /** Codex' own id for the turn; undefined until Codex reports it. */
  nativeId?: string;
  hasStarted: boolean;
  /** Resolves with `nativeId` when the turn can be stopped; rejects if the turn ends before. */
  started: PromiseWithResolvers<string>;
  /** Whether Liminal began the turn only to show events that arrived between turns; Codex does not have this turn. */
  isBetween: boolean;
  /** The newest plan that Codex has proposed in the turn. */
  plan?: string;
}

/** The reason for which a question is withdrawn. */
const turnEnded = 'turn_ended';
/**
 * Limits for notifications that wait for a turn: their number, and their characters. If a limit is exceeded, the
 * notifications get a turn of their own.
 */
const maxBetween = 100;
const maxBetweenSize = 1024 * 1024;
/** The most characters of Codex' reason for an error. */
const maxReason = 300;
/** How long Codex may take to stop a turn, in ms. After this time, Codex is ended. */
const cancelLimitMs = 10_000;

/** A notification from Codex. */
interface Notification {
  method: string;
  params: Params;
}

/** The parameters of a `turn/steer` request, which adds a message to a running turn. */
interface SteerInput {
  threadId: unknown;
  /** Codex' own id for the turn. */
  expectedTurnId: unknown;
  messageId: string;
  input: object[];
}

interface CodexSessionOptions extends SessionStateOptions {
  /** The profile that the thread was begun with; empty for none. */
  profile?: string;
  /** The paths of the thread's instruction files, for example of AGENTS.md. */
  memory?: readonly string[];
  /** Receives the ids of the turns that this server ran, and so recognises the turns of other programs. */
  rollouts: Rollouts;
  /** Whether messages that begin with `!` are run as commands. */
  runsUserCommands: boolean;
  /** The folders besides the project's with which the thread was opened. */
  directories?: readonly string[];
  /**
   * Starts a new thread. The thread has the options of the session's first thread, except for the additional folders,
   * which are given.
   */
  startThread: (directories: readonly string[]) => Promise<Opened>;
  /** Closes the session's threads and ends everything that the threads started. */
  leave: (threads: readonly OpenThread[]) => Promise<void>;
}

/** The notice in a turn that begins in a fresh thread. */
const cleared =
  'The context was cleared: the model knows the plan, and nothing else of the earlier turns. Files stay as they are.';

/** A session: one Codex thread for all turns, until a fresh thread replaces it to implement a plan. */
export class CodexSession implements AgentSession<CodexMemory>, HostedThread {
  readonly #options: CodexSessionOptions;
  readonly #server: AppServer;
  readonly #output: SessionOutput;
  readonly #state: SessionState;
  readonly #approvals: PendingApprovals;
  /** Codex' open requests to people, by id. */
  readonly #asked = new Map<unknown, AbortController>();
  /** Notifications that arrived while no turn was running, and their approximate size in characters of JSON. */
  readonly #between: Notification[] = [];
  #betweenSize = 0;
  /** A notice that the first turn shows. */
  #firstNotice: string | undefined;
  #threadId: string;
  /** The background work of the present thread. */
  #background: BackgroundWork;
  #directories: readonly string[];
  #running: RunningTurn | undefined;
  #isAlive = true;
  #closed: Promise<void> = Promise.resolve();

  constructor(options: CodexSessionOptions) {
    this.#options = options;
    this.#server = options.server;
    this.#threadId = options.threadId;
    this.#directories = options.directories ?? [];
    this.#output = options.output;
    this.#state = new SessionState(options);
    this.#background = new BackgroundWork(options.server, options.output);
    this.#approvals = new PendingApprovals({
      open: (request) => {
        // If no turn runs, the question is from a task that is still running after its turn.
        if (this.#running === undefined) this.#beginBetween();
        this.#write((writer) => writer.openApproval(request));
      },
      close: (id, outcome) => this.#write((writer) => writer.closeApproval(id, outcome)),
    });
  }

  readonly accepts = accepted;

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** The id of the present thread. */
  get agentSessionId(): string {
    return this.#threadId;
  }

  get agentTurnId(): string | undefined {
    return this.#running?.nativeId;
  }

  owns(nativeTurnId: string): boolean {
    return this.#background.owns(nativeTurnId);
  }

  get memory(): CodexMemory {
    return { config: this.#options.settings.chosen };
  }

  /** Adds a notice to the first turn. */
  noticeInFirstTurn(words: string): void {
    this.#firstNotice = words;
  }

  /** `INVALID_OPTION`. */
  async begin(
    offer: Offer,
    wanted: readonly InitialSettings[],
    notices: readonly string[],
  ): Promise<void> {
    await this.#state.begin(offer, wanted, notices);
  }

  async send(message: string, turnId: string, blocks: readonly ContentBlock[] = []): Promise<void> {
    this.#checkAlive();
    if (this.#running !== undefined) {
      throw errors.TURN_IN_PROGRESS.working('Codex');
    }
    const answer = await this.#answerLocally(message, blocks);
    if (answer !== undefined) {
      const start = { modelId: this.#options.settings.model, providerId: 'codex' };
      const emit = (draft: EventDraft): void => this.#output.emit(draft);
      return answerLocally(emit, { ...start, turnId, message, answer });
    }
    const { method, params } = requestFor(
      wordsToPlan(message) ?? message,
      this.#state.skills,
      this.#options.projectDir,
      blocks,
    );
    // If possible, Codex stores this id with the message, so that Codex' store has Liminal's turn ids.
    const own = { threadId: this.agentSessionId, clientUserMessageId: turnId };
    // Send the request first, so that Codex works while the turn's beginning is emitted.
    const asked = this.#server.request(method, { ...own, ...params }, (answer) =>
      this.#known(running, answer),
    );
    const running = this.#begin(turnId, 'user', message, blocks);
    asked.catch((error: unknown) => this.#notStarted(running, error));
  }

  #notStarted(running: RunningTurn, error: unknown): void {
    if (!this.#isAlive || this.#running !== running) return;
    const why = { code: 'AGENT_ERROR', message: thrownMessage(error) };
    this.#end({ type: 'response_error', error: why });
  }

  /**
   * Asks how to continue after a plan, as Codex' own terminal does. The work after the plan continues in the turn that
   * shows the question.
   * @param plan - The proposed plan, Markdown.
   */
  async #offerPlan(plan: string): Promise<void> {
    const running = this.#begin(randomUUID(), 'agent', undefined);
    running.isBetween = true;
    const { signal } = new AbortController();
    const outcome = await this.#approvals.ask({ ...implementPlan }, signal);
    if (this.#running !== running || outcome.outcome === 'cancelled') return;
    const next = afterPlan(outcome);
    if (next === undefined) {
      return this.#end({ type: 'response_done', status: 'completed', finishReason: 'end_turn' });
    }
    try {
      const words = await this.#prepare(plan, next);
      if (this.#running !== running) return;
      this.#write((writer) =>
        writer.add({
          type: 'message',
          id: `${running.turnId}:user`,
          content: words,
          origin: 'user',
        }),
      );
      running.isBetween = false;
      const own = { threadId: this.#threadId, clientUserMessageId: running.turnId };
      const asked = { ...own, input: codexInput(words, []) };
      await this.#server.request('turn/start', asked, (answer) => this.#known(running, answer));
    } catch (error) {
      this.#notStarted(running, error);
    }
  }

  /** Prepares the session for the step after a plan; returns the message to Codex. */
  async #prepare(plan: string, { words, endsPlanMode, clearsContext }: AfterPlan): Promise<string> {
    const prompt = clearsContext ? await this.#clearContext(plan, words) : words;
    if (endsPlanMode) await this.setConfigOption('collaboration_mode', 'default');
    return prompt;
  }

  /**
   * Replaces the session's thread by a fresh thread that has only the plan, and returns the first message to the fresh
   * thread. If Codex refuses, the session continues in its present thread.
   */
  async #clearContext(markdown: string, note: string): Promise<string> {
    const opened = await this.#options.startThread(this.#directories);
    const { id: threadId } = opened.thread;
    const fresh = { threadId, turnId: undefined };
    const words = await preparePlan(this.#server, threadId, { markdown, note }).catch(
      async (error: unknown) => {
        await this.#server.leave([fresh]);
        const why = headOf(thrownMessage(error), maxReason);
        throw new Error(`Codex did not clear the context. ${why}`, { cause: error });
      },
    );
    // If the session was closed in the meantime, close the fresh thread, too.
    if (!this.#isAlive) {
      await this.#server.leave([fresh]);
      return words;
    }
    this.#replaceThread(opened);
    this.#write((writer) => writer.notice(cleared));
    return words;
  }

  /** Switches to a fresh thread. The old thread's background work ends with that thread. */
  #replaceThread(opened: Opened): void {
    const old = this.#threads;
    this.#background.close();
    this.#output.update({ tasks: [] });
    this.#threadId = opened.thread.id;
    this.#background = new BackgroundWork(this.#server, this.#output);
    this.#background.turnBegins();
    this.#server.admit(this.#threadId, this);
    this.#state.replaceThread(opened);
    this.#server.leave(old).catch(() => undefined);
  }

  /** If the message is a command that Liminal itself can answer, returns the answer; undefined for other messages. */
  async #answerLocally(
    message: string,
    blocks: readonly ContentBlock[],
  ): Promise<string | undefined> {
    const plan = wordsToPlan(message);
    if (plan === undefined) {
      const isCommand = blocks.length === 0 && userCommandIn(message) !== undefined;
      if (isCommand && !this.#options.runsUserCommands) return commandsForbidden;
      return answerFor(message, this.#state.skills);
    }
    await this.setConfigOption('collaboration_mode', 'plan');
    if (plan !== '' || blocks.length > 0) return undefined;
    return 'Plan mode is on: say what to plan. To leave it, change the setting “Mode”.';
  }

  /** `NOTHING_TO_STEER`. */
  async steer(
    message: string,
    { turnId, messageId }: SteerTarget,
    blocks: readonly ContentBlock[],
  ): Promise<void> {
    this.#checkAlive();
    const running = this.#running;
    if (running?.turnId !== turnId || running.isBetween) throw errors.NOTHING_TO_STEER.noTurn();
    if (userCommandIn(message) !== undefined) throw errors.NOTHING_TO_STEER.isCommand();
    const expectedTurnId = await running.started.promise.catch(() => {
      throw errors.NOTHING_TO_STEER.noTurn();
    });
    const { writer } = running;
    writer.at(now());
    writer.steer(messageId, message, blocks);
    const { others } = linkedMentions(message, blocks, this.#options.projectDir);
    try {
      const thread = { threadId: this.agentSessionId, expectedTurnId };
      await this.#sendSteer({ ...thread, messageId, input: codexInput(message, others) });
    } catch (error) {
      this.#checkAlive();
      writer.at(now());
      writer.takeBack(messageId, 'refused');
      throw errors.NOTHING_TO_STEER.rejected('Codex', thrownMessage(error), { cause: error });
    }
  }

  async cancel(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    running.writer.at(now());
    running.writer.stop();
    this.#approvals.cancelAll('cancelled');
    if (running.isBetween) {
      return this.#end({ type: 'response_done', status: 'cancelled', finishReason: 'cancelled' });
    }
    const late = setTimeout(() => this.#giveUp(running), cancelLimitMs);
    try {
      const turnId = await running.started.promise;
      const own = { threadId: this.agentSessionId, turnId };
      await this.#background.stopTurn(own, running.turn);
    } catch (error) {
      // If the turn has ended in the meantime, the error is expected.
      if (this.#running !== running) return;
      throw errors.INTERRUPT_FAILED.turn('Codex', thrownMessage(error));
    } finally {
      running.started.promise.catch(() => undefined);
      if (this.#running !== running) clearTimeout(late);
    }
  }

  async close(): Promise<void> {
    if (this.#isAlive) {
      this.#die();
      const threads = this.#threads;
      this.#endAll({ type: 'response_done', status: 'cancelled', finishReason: 'killed' });
      this.#closed = this.#options.leave(threads);
      this.#output.exit({ expected: true });
    }
    await this.#closed;
  }

  async answerApproval(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    this.#approvals.answer(approvalId, answer);
  }

  async setConfigOption(id: string, value: string): Promise<void> {
    this.#checkAlive();
    await this.#state.change(id, value);
  }

  /** Throws ProviderError `NOT_ANSWERED` or `PROCESS_CRASH`. */
  async aside(question: string): Promise<string> {
    this.#checkAlive();
    return askAside(this.#server, this.agentSessionId, question);
  }

  async setup(): Promise<SessionSetup> {
    this.#checkAlive();
    const { projectDir, memory = [], profile, settings } = this.#options;
    const facts = { Model: settings.model, Profile: profile };
    return readSetup({ server: this.#server, projectDir, memory, facts });
  }

  async listMcpServers(): Promise<McpServerState[]> {
    this.#checkAlive();
    return listMcpServers(this.#server, this.agentSessionId);
  }

  async changeMcpServer(name: string, action: McpAction): Promise<McpActionResult> {
    this.#checkAlive();
    return changeMcpServer(this.#server, this.agentSessionId, name, action);
  }

  async setDirectories(folders: readonly string[]): Promise<boolean> {
    this.#checkAlive();
    const { projectDir: cwd } = this.#options;
    const environment = {
      environmentId: 'local',
      cwd,
      runtimeWorkspaceRoots: [cwd, ...folders],
    };
    const own = { threadId: this.agentSessionId };
    await this.#server.request('thread/settings/update', { ...own, environments: [environment] });
    this.#directories = folders;
    return true;
  }

  async rewindConversation({ turnIds }: ConversationRewind): Promise<void> {
    this.#checkAlive();
    await revertThread(this.#server, this.agentSessionId, turnIds);
  }

  async rename(title: string): Promise<void> {
    this.#checkAlive();
    await this.#server.request('thread/name/set', { threadId: this.agentSessionId, name: title });
  }

  /** Handles a notification about the session's threads, or about the whole server. */
  onNotification(method: string, params: Params): void {
    if (!this.#isAlive) return;
    if (method === 'serverRequest/resolved') return this.#asked.get(params['requestId'])?.abort();
    const { threadId = this.agentSessionId } = params;
    const isOwn = threadId === this.agentSessionId;
    if (!isOwn) this.#background.readTask(String(threadId), method, params);
    else if (method === 'turn/started') this.#started(params['turn']);
    else this.#state.read(method, params);
    const running = this.#running;
    const isLeftEnd = this.#background.readCommand(method, params);
    if (running === undefined) return this.#readBetween(method, params, !isOwn || isLeftEnd);
    try {
      running.writer.at(now());
      const activity = this.#readItem(running.turn, method, params);
      if (activity !== undefined) this.#output.update({ activity });
      // If a review's subject does not exist, Codex sends an error and never begins the turn.
      const isFailed = isOwn && method === 'error' && params['willRetry'] === false;
      if (isFailed && !running.hasStarted) running.turn.fail(params['error']);
    } catch (error) {
      // An error in Liminal's handling of one notification must not end the session.
      process.emitWarning(asError(error));
    }
    const plan = isOwn ? planIn(method, params['item']) : undefined;
    if (plan !== undefined) running.plan = plan;
    if (!running.writer.hasEnded) return;
    this.#onTurnEnd(running);
    if (running.plan === undefined || !isCompleted(params['turn'])) return;
    if (this.#options.settings.isPlanning) void this.#offerPlan(running.plan);
  }

  /**
   * Stores a notification about an earlier turn's work. The stored notifications are shown in the next turn, or in a
   * turn of their own when their task ends.
   */
  #readBetween(method: string, params: Params, isEarlier: boolean): void {
    // Also store notices, for example the output of a hook at the session's start; the next turn shows them.
    const isNotice = noticeOf(method, params) !== undefined;
    if (!isEarlier && !isNotice) return;
    const isEnd = method === 'turn/completed';
    if (isNotice || method === 'item/completed' || (isEnd && hasFailed(params['turn']))) {
      this.#between.push({ method, params });
      this.#betweenSize += sizeOf(params, maxBetweenSize);
    }
    const isMuch = this.#between.length >= maxBetween || this.#betweenSize > maxBetweenSize;
    if ((!isEnd && !isMuch) || this.#between.length === 0) return;
    this.#beginBetween();
    this.#end({ type: 'response_done', status: 'completed', finishReason: 'end_turn' });
  }

  /** Begins a turn for notifications that arrived between turns. */
  #beginBetween(): void {
    this.#begin(randomUUID(), 'agent', undefined).isBetween = true;
  }

  async onRequest(method: string, params: Params, id: unknown): Promise<unknown> {
    const asking = new AbortController();
    this.#asked.set(id, asking);
    try {
      const requests = new CodexRequests((...asked) => this.#ask(params, ...asked));
      return await requests.serve(method, params, asking.signal);
    } finally {
      this.#asked.delete(id);
      const isAsking = this.#asked.size > 0 || this.#approvals.isAsking;
      if (this.#running?.isBetween === true && !isAsking) {
        this.#end({ type: 'response_done', status: 'completed', finishReason: 'end_turn' });
      }
    }
  }

  onGone(reason: Error): void {
    if (!this.#isAlive) return;
    this.#die();
    const code = reason instanceof ProtocolBreach ? reason.code : 'PROCESS_CRASH';
    const { message } = this.#gone(reason);
    this.#endAll({ type: 'response_error', error: { code, message } });
    this.#closed = this.#options.leave(this.#threads);
    this.#output.exit({ expected: false, code, message });
  }

  /** `TASK_NOT_FOUND`, `INTERRUPT_FAILED`. */
  async stopTask(taskId: string): Promise<void> {
    this.#checkAlive();
    await this.#background.stop(taskId);
  }

  /** Asks people a question. If the turn ends while the task that asks is still running, repeats the question. */
  async #askUntilAnswered(
    { threadId }: Params,
    ...[question, signal]: Parameters<Ask>
  ): Promise<ApprovalOutcome> {
    for (;;) {
      const outcome = await this.#approvals.ask(question, signal);
      const hasTurnEnded = outcome.outcome === 'cancelled' && outcome.reason === turnEnded;
      const isAsking =
        this.#isAlive && !signal.aborted && this.#background.isAtWork(String(threadId));
      if (!hasTurnEnded || !isAsking) return outcome;
    }
  }

  /**
   * Asks people a question. If a person refuses and adds a note, sends the note into the turn as a message, because
   * Codex' answers have no field for notes.
   */
  async #ask(asking: Params, ...asked: Parameters<Ask>): Promise<ApprovalOutcome> {
    const outcome = await this.#askUntilAnswered(asking, ...asked);
    const running = this.#running;
    if (outcome.outcome === 'cancelled' || outcome.note === undefined || !running) return outcome;
    const { threadId = this.agentSessionId, turnId: expectedTurnId = running.nativeId } = asking;
    const messageId = randomUUID();
    running.turn.hide(messageId);
    const input = codexInput(`The user refused this, and says: ${outcome.note}`, []);
    try {
      await this.#sendSteer({ threadId, expectedTurnId, messageId, input });
    } catch (error) {
      const problem = `The reason for the refusal did not reach Codex: ${thrownMessage(error)}`;
      this.#write((writer) => writer.notice(problem));
    }
    return outcome;
  }

  /** Sends input into a running turn. */
  #sendSteer({ messageId: clientUserMessageId, ...input }: SteerInput): Promise<unknown> {
    return this.#server.request('turn/steer', { ...input, clientUserMessageId });
  }

  /** Returns the reason why Codex waits if the notification reports a reason; see `CodexTurn.read`. */
  #readItem(turn: CodexTurn, method: string, given: Params): string | undefined {
    const { threadId = this.agentSessionId } = given;
    const params = method === 'item/completed' ? withPicture(given) : given;
    if (threadId === this.agentSessionId) return turn.read(method, params);
    return turn.readTask(String(threadId), method, params);
  }

  /** All threads of the session. */
  get #threads(): OpenThread[] {
    const own = { threadId: this.agentSessionId, turnId: this.#running?.nativeId };
    return [own, ...this.#background.threads];
  }

  #begin(
    turnId: string,
    trigger: Trigger,
    message: string | undefined,
    blocks: readonly ContentBlock[] = [],
  ): RunningTurn {
    const writer = new TurnWriter(turnId, (draft) => this.#output.emit(draft));
    const turn = new CodexTurn(
      writer,
      this.#options.projectDir,
      this.agentSessionId,
      this.#background.tasks,
    );
    const started = Promise.withResolvers<string>();
    const running: RunningTurn = {
      turnId,
      writer,
      turn,
      hasStarted: false,
      started,
      isBetween: false,
    };
    running.started.promise.catch(() => undefined);
    this.#running = running;
    writer.at(now());
    writer.begin(
      { modelId: this.#options.settings.model, providerId: 'codex', trigger },
      message,
      blocks,
    );
    if (this.#firstNotice !== undefined) writer.notice(this.#firstNotice);
    this.#firstNotice = undefined;
    this.#betweenSize = 0;
    for (const one of this.#between.splice(0)) this.#readItem(turn, one.method, one.params);
    this.#background.turnBegins();
    this.#state.turnBegins();
    return running;
  }

  /**
   * Called when Codex has accepted the request for a turn. The later `turn/started` may contain a different turn id.
   */
  #known(running: RunningTurn, answer: unknown): void {
    const id = idIn(isRecord(answer) ? answer['turn'] : undefined);
    if (id === undefined || running.nativeId !== undefined) return;
    running.nativeId = id;
    if (this.#running === running) this.#background.turnIs(id, false);
  }

  #started(turn: unknown): void {
    const id = idIn(turn);
    if (id === undefined) return;
    this.#options.rollouts.noteOwn(id);
    // Codex may begin a turn by itself, for example for a goal.
    const running = this.#running ?? this.#begin(randomUUID(), 'agent', undefined);
    if (running.nativeId !== undefined) this.#options.rollouts.noteOwn(running.nativeId);
    // Replace the id from the request's answer: a review can only be stopped by the id in `turn/started`.
    running.nativeId = id;
    this.#background.turnIs(id, true);
    running.hasStarted = true;
    running.isBetween = false;
    running.started.resolve(id);
  }

  #write(write: (writer: TurnWriter) => void): void {
    const writer = this.#running?.writer;
    if (writer === undefined) return;
    writer.at(now());
    write(writer);
  }

  #end(end: TurnEnd): void {
    const running = this.#running;
    if (running === undefined) return;
    running.writer.at(now());
    running.turn.close(end);
    this.#onTurnEnd(running);
  }

  /**
   * Ends the running turn. If no turn is running but notifications are waiting, begins a turn for the notifications,
   * and ends that turn at once.
   */
  #endAll(end: TurnEnd): void {
    if (this.#running === undefined && this.#between.length > 0) this.#beginBetween();
    this.#end(end);
  }

  #onTurnEnd(running: RunningTurn): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    this.#approvals.cancelAll(turnEnded);
    this.#background.turnEnds(running.turn.commands);
    // Before the next message, the server checks whether other programs have continued the thread; scanning now leaves
    // less to read then.
    this.#options.rollouts.mark(this.agentSessionId).catch(() => undefined);
    this.#state.turnEnds();
    running.started.reject(new Error('The turn has ended.'));
  }

  #giveUp(running: RunningTurn): void {
    if (this.#running !== running || !this.#isAlive) return;
    this.onGone(new Error('Codex did not stop when it was asked to.'));
  }

  #die(): void {
    this.#isAlive = false;
    this.#state.close();
    this.#background.close();
  }

  #checkAlive(): void {
    if (!this.#isAlive) throw this.#gone(new Error('The process is no longer running.'));
  }

  #gone(cause: Error): ProviderError {
    return errors.PROCESS_CRASH.ended('Codex', this.#server.explain(cause), { cause });
  }
}

function idIn(turn: unknown): string | undefined {
  const id = isRecord(turn) ? turn['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
