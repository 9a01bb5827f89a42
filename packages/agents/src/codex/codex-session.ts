import { randomUUID } from 'node:crypto';
import type {
  ApprovalAnswer,
  ApprovalOutcome,
  BackgroundTask,
  ContentBlock,
  SessionNotice,
} from '@liminal/protocol';
import { linkedMentions, messageOf } from '@liminal/protocol';
import { BoundedList } from '../base/bounded-list.ts';
import { isRecord } from '../base/parse-line.ts';
import { isoNow as now } from '../base/iso-clock.ts';
import { NoticeBoard } from '../base/notice-board.ts';
import { PendingApprovals } from '../base/pending-approvals.ts';
import { UsageLimits } from '../base/usage-limits.ts';
import { ProtocolBreach } from '../base/protocol-breach.ts';
import { type Trigger, type TurnEnd, TurnWriter } from '../base/turn-writer.ts';
import type { AgentSession, SessionOutput, SteerTarget } from '../driver.ts';
import type { Ask } from '../base/elicitations.ts';
import { nothingToSteer, ProviderError, taskNotFound } from '../errors.ts';
import type { AppServer, HostedThread, OpenThread } from './app-server.ts';
import { askedBy, commandsWith, readSkills, type Skill } from './commands.ts';
import { accepted, inputOf } from './prompt.ts';
import { CodexRequests } from './requests.ts';
import type { Rollouts } from './rollouts.ts';
import type { CodexSettings, Offer } from './settings.ts';
import { BackgroundCommands } from './translate/background-commands.ts';
import { readLimits } from './translate/limits.ts';
import { Tasks } from './translate/tasks.ts';
import { CodexTurn, hasFailed } from './translate/turn.ts';

type Params = Record<string, unknown>;

/** What opening a session again needs. */
export interface CodexMemory {
  config: Record<string, string>;
}

/** Settings to begin with; where the session can do without, one that does not fit is said. */
interface Wanted {
  config: Record<string, string>;
  isLenient: boolean;
}

interface Running {
  turnId: string;
  writer: TurnWriter;
  turn: CodexTurn;
  /** Codex' own id of the turn, once it is known. */
  nativeId?: string;
  hasStarted: boolean;
  /** Resolves with that id when the turn can be stopped; rejects if it ends before. */
  started: PromiseWithResolvers<string>;
  /** Ours, for what is said between turns: Codex knows nothing of it. */
  isBetween: boolean;
}

/** How long after its beginning a session learns its skills, ms; after its turn, if one runs then. */
const skillsDelayMs = 50;
/** How often it is told what commands beside the turns print, ms. */
const progressMs = 1_000;
/** Why a question is withdrawn. */
const turnEnded = 'turn_ended';
/** How many items that were said between turns wait for a turn; then they have one of their own. */
const maxBetween = 100;
/** How long Codex may take to stop a turn, ms; then it is ended. */
const cancelLimitMs = 10_000;

/** What is said in a turn that runs. */
interface Said {
  threadId: unknown;
  /** Codex' own id of the turn. */
  expectedTurnId: unknown;
  messageId: string;
  input: object[];
}

interface CodexSessionOptions {
  server: AppServer;
  threadId: string;
  projectDir: string;
  output: SessionOutput;
  settings: CodexSettings;
  /** Learns which turns ran here. */
  rollouts: Rollouts;
  /** Closes the session's threads with all that they started. */
  leave: (threads: readonly OpenThread[]) => Promise<void>;
}

/** One thread of Codex', over all of its turns. */
export class CodexSession implements AgentSession<CodexMemory>, HostedThread {
  readonly agentSessionId: string;
  readonly #options: CodexSessionOptions;
  readonly #server: AppServer;
  readonly #output: SessionOutput;
  readonly #settings: CodexSettings;
  readonly #notices: NoticeBoard;
  readonly #approvals: PendingApprovals;
  /** What Codex asks now, by the id of its request. */
  readonly #asked = new Map<unknown, AbortController>();
  readonly #tasks = new Tasks();
  /** What was said between turns, and in how many notifications. */
  readonly #between = new BoundedList();
  #betweenCount = 0;
  /** Codex' own ids of all turns that ran here, with whether they were stopped. */
  readonly #turns = new Map<string, { isStopped: boolean }>();
  readonly #background = new BackgroundCommands();
  /** What runs beside the turns, as last told. */
  #told: readonly BackgroundTask[] = [];
  #toldCommands: readonly BackgroundTask[] = [];
  #areTasksOld = false;
  #telling: NodeJS.Timeout | undefined;
  readonly #limits = new UsageLimits();
  #skills: Skill[] = [];
  #areSkillsOld = false;
  #running: Running | undefined;
  #isAlive = true;
  #closed: Promise<void> = Promise.resolve();

  constructor(options: CodexSessionOptions) {
    this.#options = options;
    this.#server = options.server;
    this.agentSessionId = options.threadId;
    this.#output = options.output;
    this.#settings = options.settings;
    this.#notices = new NoticeBoard((notices) => this.#output.update({ notices }));
    this.#approvals = new PendingApprovals({
      open: (request) => {
        // A task may ask after its turn.
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

  owns(nativeTurnId: string): boolean {
    return this.#turns.has(nativeTurnId);
  }

  get memory(): CodexMemory {
    return { config: this.#settings.chosen };
  }

  /** Makes the first settings. `INVALID_OPTION`. */
  async begin(offer: Offer, wanted: readonly Wanted[], notices: string[]) {
    this.#settings.offer(offer);
    const problems = wanted.flatMap((one) => this.#choose(one));
    this.#notices.put('opening', [...notices, ...problems].map(warning));
    const { agentSessionId } = this;
    const commands = commandsWith([]);
    this.#output.update({ agentSessionId, configOptions: this.#settings.options, commands });
    await this.#changeSettings();
    // A first message may follow at once, and comes first.
    setTimeout(() => {
      this.#learnSkills();
      void this.#tell('account/rateLimits/read', {}).then((told) => this.#learnLimits(told));
    }, skillsDelayMs).unref();
  }

  async send(message: string, turnId: string, blocks: readonly ContentBlock[] = []): Promise<void> {
    this.#checkAlive();
    if (this.#running !== undefined) {
      throw new ProviderError('TURN_IN_PROGRESS', 'Codex is still answering.');
    }
    const { method, params } = askedBy(message, this.#skills, this.#options.projectDir, blocks);
    // Codex keeps the message's id, if it can: so its store names our turns.
    const own = { threadId: this.agentSessionId, clientUserMessageId: turnId };
    // First, so that Codex is at work while the turn's beginning is told.
    const asked = this.#server.request(method, { ...own, ...params }, (answer) =>
      this.#known(running, answer),
    );
    const running = this.#begin(turnId, 'user', message, blocks);
    asked.catch((error: unknown) => {
      if (!this.#isAlive || this.#running !== running) return;
      const why = { code: 'AGENT_ERROR', message: messageOf(error) };
      this.#end({ type: 'response_error', error: why });
    });
  }

  /** `NOTHING_TO_STEER`. */
  async steer(
    message: string,
    { turnId, messageId }: SteerTarget,
    blocks: readonly ContentBlock[],
  ): Promise<void> {
    this.#checkAlive();
    const running = this.#running;
    if (running?.turnId !== turnId || running.isBetween) throw nothingToSteer();
    const expectedTurnId = await running.started.promise.catch(() => {
      throw nothingToSteer();
    });
    const { writer } = running;
    writer.at(now());
    writer.steer(messageId, message, blocks);
    const { others } = linkedMentions(message, blocks, this.#options.projectDir);
    try {
      const thread = { threadId: this.agentSessionId, expectedTurnId };
      await this.#say({ ...thread, messageId, input: inputOf(message, others) });
    } catch (error) {
      this.#checkAlive();
      writer.at(now());
      writer.takeBack(messageId, 'refused');
      throw nothingToSteer(`Codex did not take it: ${messageOf(error)}`, error);
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
      await this.#interrupt(running);
    } catch (error) {
      // It has ended meanwhile, and has nothing to be stopped.
      if (this.#running !== running) return;
      throw new ProviderError('INTERRUPT_FAILED', `Codex did not stop. ${messageOf(error)}`);
    } finally {
      running.started.promise.catch(() => undefined);
      if (this.#running !== running) clearTimeout(late);
    }
  }

  async close(): Promise<void> {
    if (this.#isAlive) {
      this.#isAlive = false;
      const threads = this.#threads;
      this.#end({ type: 'response_done', status: 'cancelled', finishReason: 'killed' });
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
    this.#settings.change(id, value);
    this.#output.update({ configOptions: this.#settings.options });
    await this.#changeSettings();
  }

  /** Reads what Codex says of this thread. */
  onNotification(method: string, params: Params): void {
    if (!this.#isAlive) return;
    if (method === 'serverRequest/resolved') return this.#asked.get(params['requestId'])?.abort();
    const { threadId = this.agentSessionId } = params;
    const isOwn = threadId === this.agentSessionId;
    if (!isOwn) this.#follow(String(threadId), method, params);
    else if (method === 'turn/started') this.#started(params['turn']);
    else this.#hear(method, params);
    const running = this.#running;
    const isLeftEnd = this.#background.read(method, params);
    this.#tellTasks();
    if (running === undefined) return this.#hearBetween(method, params, !isOwn || isLeftEnd);
    try {
      running.writer.at(now());
      const activity = this.#hearItem(running.turn, method, params);
      if (activity !== undefined) this.#output.update({ activity });
      // A review of what is not there never begins.
      const isFailed = isOwn && method === 'error' && params['willRetry'] === false;
      if (isFailed && !running.hasStarted) running.turn.fail(params['error']);
    } catch (error) {
      // An error of ours in one message must not end the session.
      process.emitWarning(error instanceof Error ? error : String(error));
    }
    if (running.writer.hasEnded) this.#over(running);
  }

  /** What belongs to earlier turns waits for the next, or for the end of its task. */
  #hearBetween(method: string, params: Params, isEarlier: boolean): void {
    if (!isEarlier) return;
    const isEnd = method === 'turn/completed';
    if (method === 'item/completed' || (isEnd && hasFailed(params['turn']))) {
      this.#between.add({ method, params });
      this.#betweenCount += 1;
    }
    const isDue = isEnd || this.#betweenCount >= maxBetween;
    if (!isDue || this.#between.isEmpty) return;
    this.#beginBetween();
    this.#end({ type: 'response_done', status: 'completed', finishReason: 'end_turn' });
  }

  /** Begins a turn for what is said between turns. */
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
      if (this.#running?.isBetween === true && this.#asked.size === 0) {
        this.#end({ type: 'response_done', status: 'completed', finishReason: 'end_turn' });
      }
    }
  }

  onGone(reason: Error): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    const code = reason instanceof ProtocolBreach ? reason.code : 'PROCESS_CRASH';
    const { message } = this.#gone(reason);
    this.#end({ type: 'response_error', error: { code, message } });
    this.#closed = this.#options.leave(this.#threads);
    this.#output.exit({ expected: false, code, message });
  }

  /** `TASK_NOT_FOUND`, `INTERRUPT_FAILED`. */
  async stopTask(taskId: string): Promise<void> {
    this.#checkAlive();
    const process = this.#background.find(taskId);
    const turnId = this.#tasks.find(taskId);
    if (process === undefined && turnId === undefined) throw taskNotFound();
    try {
      if (process === undefined) {
        await this.#server.request('turn/interrupt', { threadId: taskId, turnId });
        await this.#tell('thread/backgroundTerminals/clean', { threadId: taskId });
      } else await this.#server.request('thread/backgroundTerminals/terminate', process);
    } catch (error) {
      throw new ProviderError('INTERRUPT_FAILED', `Codex did not stop it. ${messageOf(error)}`);
    }
  }

  /** Asks people; again, if the turn ends and what asks goes on. */
  async #askUntilAnswered(
    { threadId }: Params,
    ...[question, signal]: Parameters<Ask>
  ): Promise<ApprovalOutcome> {
    for (;;) {
      const outcome = await this.#approvals.ask(question, signal);
      const hasTurnEnded = outcome.outcome === 'cancelled' && outcome.reason === turnEnded;
      const goesOn =
        this.#isAlive && !signal.aborted && this.#tasks.find(String(threadId)) !== undefined;
      if (!hasTurnEnded || !goesOn) return outcome;
    }
  }

  /** Asks people, and gives Codex the reason of a refusal, for which its answers have no place. */
  async #ask(asking: Params, ...asked: Parameters<Ask>): Promise<ApprovalOutcome> {
    const outcome = await this.#askUntilAnswered(asking, ...asked);
    const running = this.#running;
    if (outcome.outcome === 'cancelled' || outcome.note === undefined || !running) return outcome;
    const { threadId = this.agentSessionId, turnId: expectedTurnId = running.nativeId } = asking;
    const messageId = randomUUID();
    running.turn.hide(messageId);
    const input = inputOf(`The user refused this, and says: ${outcome.note}`, []);
    try {
      await this.#say({ threadId, expectedTurnId, messageId, input });
    } catch (error) {
      const problem = `Codex was not told the reason of the refusal: ${messageOf(error)}`;
      this.#write((writer) => writer.notice(problem));
    }
    return outcome;
  }

  /** Says something in a turn that runs. */
  #say({ messageId: clientUserMessageId, ...said }: Said): Promise<unknown> {
    return this.#server.request('turn/steer', { ...said, clientUserMessageId });
  }

  /** Returns what Codex waits for, if it says that. */
  #hearItem(turn: CodexTurn, method: string, params: Params): string | undefined {
    const { threadId = this.agentSessionId } = params;
    if (threadId === this.agentSessionId) return turn.read(method, params);
    return turn.readTask(String(threadId), method, params);
  }

  /** Tells at once what begins and ends, and from time to time what is printed. */
  #tellTasks(): void {
    const { running } = this.#background;
    if (running === this.#toldCommands && !this.#areTasksOld) return;
    if (this.#beside.length !== this.#told.length) this.#tellTasksNow();
    else this.#telling ??= setTimeout(() => this.#tellTasksNow(), progressMs).unref();
  }

  #tellTasksNow(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    if (!this.#isAlive) return;
    this.#areTasksOld = false;
    this.#toldCommands = this.#background.running;
    const beside = this.#beside;
    if (beside.length === 0 && this.#told.length === 0) return;
    this.#told = beside;
    this.#output.update({ tasks: beside });
  }

  /** What runs beside the turns. */
  get #beside(): BackgroundTask[] {
    return [...this.#background.running, ...this.#tasks.beside(this.#running?.nativeId)];
  }

  /** Reads what concerns the session itself. */
  #hear(method: string, params: Params): void {
    switch (method) {
      case 'account/rateLimits/updated':
        return this.#learnLimits(params);
      case 'thread/name/updated':
        return this.#rename(params['threadName']);
      case 'thread/settings/updated':
        if (!this.#settings.read(params['threadSettings'])) return;
        return this.#output.update({ configOptions: this.#settings.options });
      case 'skills/changed':
        return this.#learnSkills();
      case 'mcpServer/startupStatus/updated':
        return this.#notices.put(`mcp ${String(params['name'])}`, mcpProblem(params));
      case 'warning':
      case 'guardianWarning':
      case 'configWarning':
      case 'deprecationNotice': {
        const text = [params['message'] ?? params['summary'], params['details']];
        const said = text.filter((part) => typeof part === 'string' && part !== '').join(' ');
        return this.#notices.put(said, said === '' ? [] : [warning(said)]);
      }
    }
  }

  /** Returns what does not fit, in sentences. Throws ProviderError `INVALID_OPTION`. */
  #choose({ config, isLenient }: Wanted): string[] {
    return Object.entries(config).flatMap(([id, value]) => {
      try {
        this.#settings.change(id, value);
        return [];
      } catch (error) {
        if (!isLenient) throw error;
        return [`A setting was left out. ${messageOf(error)}`];
      }
    });
  }

  async #changeSettings(): Promise<void> {
    const { overrides } = this.#settings;
    if (Object.keys(overrides).length === 0) return;
    const params = { threadId: this.agentSessionId, ...overrides };
    await this.#server.request('thread/settings/update', params);
  }

  /** Only an account with a plan has windows. */
  #learnLimits(told: unknown): void {
    const limits = this.#limits.learn(readLimits(told));
    if (limits !== undefined && this.#isAlive) this.#output.update({ limits });
  }

  #learnSkills(): void {
    this.#areSkillsOld = this.#running !== undefined;
    if (this.#isAlive && !this.#areSkillsOld) void this.#readSkills();
  }

  async #readSkills(): Promise<void> {
    const params = { cwds: [this.#options.projectDir] };
    const answer = await this.#server.request('skills/list', params).catch(() => undefined);
    if (!this.#isAlive) return;
    this.#skills = readSkills(answer);
    this.#output.update({ commands: commandsWith(this.#skills) });
  }

  /** Ends the turn in Codex with its tasks, and the commands that it still runs; those of earlier turns go on. */
  async #interrupt({ started, turn }: Running): Promise<void> {
    const turnId = await started.promise;
    // A task may have begun that is not told yet.
    this.#turns.set(turnId, { isStopped: true });
    await this.#server.request('turn/interrupt', { threadId: this.agentSessionId, turnId });
    for (const task of this.#tasks.of(turnId)) await this.#stopTask(task.threadId, task.turnId);
    await Promise.all(
      turn.commands.map(({ threadId, processId }) =>
        this.#tell('thread/backgroundTerminals/terminate', { threadId, processId }),
      ),
    );
  }

  async #stopTask(threadId: string, turnId: string | undefined): Promise<void> {
    if (turnId !== undefined) await this.#tell('turn/interrupt', { threadId, turnId });
    await this.#tell('thread/backgroundTerminals/clean', { threadId });
  }

  /** Requests what may fail because it is done already. */
  #tell(method: string, params: object): Promise<unknown> {
    return this.#server.request(method, params).catch(() => undefined);
  }

  /** All threads of the session. */
  get #threads(): OpenThread[] {
    const own = { threadId: this.agentSessionId, turnId: this.#running?.nativeId };
    return [own, ...this.#tasks.threads];
  }

  /** Notes what runs in the threads of tasks. */
  #follow(threadId: string, method: string, params: Params): void {
    if (this.#tasks.read(threadId, method, params, now())) this.#areTasksOld = true;
    if (method !== 'turn/started') return;
    const { turn } = params;
    const root = isRecord(turn) ? turn['rootTurnId'] : undefined;
    if (this.#turns.get(String(root))?.isStopped === true)
      void this.#stopTask(threadId, idIn(turn));
  }

  #begin(
    turnId: string,
    trigger: Trigger,
    message: string | undefined,
    blocks: readonly ContentBlock[] = [],
  ): Running {
    const writer = new TurnWriter(turnId, (draft) => this.#output.emit(draft));
    const turn = new CodexTurn(writer, this.#options.projectDir, this.agentSessionId, this.#tasks);
    const started = Promise.withResolvers<string>();
    const running: Running = { turnId, writer, turn, hasStarted: false, started, isBetween: false };
    running.started.promise.catch(() => undefined);
    this.#running = running;
    writer.at(now());
    writer.begin({ modelId: this.#settings.model, providerId: 'codex', trigger }, message, blocks);
    this.#betweenCount = 0;
    for (const told of this.#between.take()) {
      if (isTold(told)) this.#hearItem(turn, told.method, told.params);
    }
    this.#areTasksOld = true;
    return running;
  }

  /** Codex has taken the turn that was asked for; what it says in its beginning may name another one. */
  #known(running: Running, answer: unknown): void {
    const id = idIn(isRecord(answer) ? answer['turn'] : undefined);
    if (id !== undefined) running.nativeId ??= id;
  }

  #started(turn: unknown): void {
    const id = idIn(turn);
    if (id === undefined) return;
    this.#options.rollouts.noteOwn(id);
    // Codex goes on by itself, with a goal for one.
    const running = this.#running ?? this.#begin(randomUUID(), 'agent', undefined);
    if (running.nativeId !== undefined) this.#options.rollouts.noteOwn(running.nativeId);
    // Of a review, this is the turn that can be stopped.
    running.nativeId = id;
    this.#turns.set(id, { isStopped: false });
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
    this.#over(running);
  }

  #over(running: Running): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    this.#approvals.cancelAll(turnEnded);
    // Of a turn that was stopped Codex ends the commands, too.
    if (!this.#isStopped(running)) this.#background.adopt(running.turn.commands, now());
    this.#areTasksOld = true;
    this.#tellTasks();
    // The next message asks whether others have gone on with the thread: then there is less to read.
    this.#options.rollouts.mark(this.agentSessionId).catch(() => undefined);
    if (this.#areSkillsOld) this.#learnSkills();
    running.started.reject(new Error('The turn has ended.'));
  }

  #isStopped({ nativeId = '' }: Running): boolean {
    return this.#turns.get(nativeId)?.isStopped === true;
  }

  #giveUp(running: Running): void {
    if (this.#running !== running || !this.#isAlive) return;
    this.onGone(new Error('Codex did not stop when it was asked to.'));
  }

  #rename(title: unknown): void {
    if (typeof title === 'string' && title !== '') this.#output.update({ title });
  }

  #checkAlive(): void {
    if (!this.#isAlive) throw this.#gone(new Error('It is no longer running.'));
  }

  #gone(cause: Error): ProviderError {
    const message = `Codex has ended. ${this.#server.explain(cause)}`;
    return new ProviderError('PROCESS_CRASH', message, { cause });
  }
}

function idIn(turn: unknown): string | undefined {
  const id = isRecord(turn) ? turn['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

const isTold = (value: unknown): value is { method: string; params: Params } =>
  isRecord(value) && 'method' in value;

const warning = (text: string): SessionNotice => ({ level: 'warning', text });

function mcpProblem({ name, status, error }: Params): SessionNotice[] {
  if (status !== 'failed') return [];
  const why = typeof error === 'string' ? ` ${error}` : '';
  return [warning(`The MCP server “${String(name)}” did not start.${why}`)];
}
