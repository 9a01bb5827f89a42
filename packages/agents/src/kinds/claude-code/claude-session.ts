import { randomUUID, type UUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Query, RewindFilesResult } from '@anthropic-ai/claude-agent-sdk';
import {
  BoundedMap,
  isTerminal,
  type ApprovalAnswer,
  type ApprovalOutcome,
  type BackgroundTask,
  type ContentBlock,
  type EventDraft,
  type McpAction,
  type McpActionResult,
  type McpServerState,
  thrownMessage,
  type RewindResult,
  type SessionSetup,
} from '@liminal/protocol';
import { answerLocally } from '../../base/local-answer.ts';
import { isoNow as now } from '../../base/iso-clock.ts';
import {
  commandsForbidden,
  runUserCommand,
  userCommandIn,
  type UserCommandResult,
} from '../../base/user-command.ts';
import type { AgentSession, SessionOutput } from '../../contract/driver.ts';
import type { SteerTarget } from '../../contract/provider.ts';
import { accepted, claudePrompt } from './prompt.ts';
import { errors, ProviderError } from '../../contract/errors.ts';
import { ClaudeApprovals } from './approvals.ts';
import { askAside } from './aside.ts';
import { ClaudeProcess, type ClaudeProcessOptions } from './claude-process.ts';
import { answerFor } from './commands.ts';
import { applyAfterStart, mayBypass, type Config } from './config-options.ts';
import { changeMcpServer, listMcpServers } from './mcp-status.ts';
import type { ConversationRewind } from '../../contract/provider.ts';
import { rewindConversation } from './rewind-conversation.ts';
import { loadSdk, type ClaudeSdk } from './sdk.ts';
import { NotesQueued } from './notes-queued.ts';
import { isLocalResult, readFacts } from './session-facts.ts';
import { isPlainDelta } from './translate/native.ts';
import { SessionStatus } from './session-status.ts';
import { readSetup } from './setup.ts';
import { askSettings } from './settings-in-force.ts';
import { askOutput, TaskOutput } from './task-output.ts';
import type { TranscriptMarks } from './transcript-marks.ts';
import { ClaudeTranslator } from './translate/translator.ts';

export interface ClaudeSessionOptions extends ClaudeProcessOptions {
  output: SessionOutput;
  /**
   * Records the id of each sent message, so that the entries that Claude Code stores for the message do not count as
   * written by another program.
   */
  marks: Pick<TranscriptMarks, 'noteSent'>;
  /** Whether messages that begin with `!` run as commands. */
  runsUserCommands: boolean;
  /** Folders besides the project's in which the agent may work. */
  additionalDirectories?: readonly string[];
  /** Notices for people in the first turn. */
  notices?: readonly string[];
}

/** How many steered messages are remembered. */
const maxSteered = 1_000;
/** For how many of a session's messages Claude Code's ids are remembered. */
const maxUuids = 10_000;

/** How long a stop waits until Claude Code has withdrawn its unread messages, in ms. */
const withdrawLimitMs = 500;

/** The interval at which the states of starting MCP servers are polled, in ms. */
const serverLookMs = 1_000;

interface Sending {
  turnId: string;
  bound: PromiseWithResolvers<void>;
  /** The user stopped the turn before the agent began the turn. */
  isStopped: boolean;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (id: string): id is UUID => uuidPattern.test(id);

/** A Claude Code session over all its turns, and its process. */
export class ClaudeSession implements AgentSession<Config> {
  readonly #options: ClaudeSessionOptions;
  readonly #process: ClaudeProcess;
  readonly #approvals: ClaudeApprovals;
  readonly #translator: ClaudeTranslator;
  readonly #status: SessionStatus;
  /** As last reported. */
  #tasks: readonly BackgroundTask[] = [];
  readonly #taskOutput = new TaskOutput((taskId) => this.#readOutput(taskId));
  #isAlive = true;
  #sending: Sending | undefined;
  #turnEnd = Promise.withResolvers<void>();
  #isStopping = false;
  /** Steered messages, by Liminal's ids; a steered message may later begin its own turn. */
  readonly #steered = new BoundedMap<string, true>(maxSteered);
  readonly #notes = new NotesQueued();
  /** The ids of messages in Claude Code, by Liminal's ids. */
  readonly #uuids = new BoundedMap<string, string>(maxUuids);
  #ended: Promise<void> = Promise.resolve();
  /** Aborts the running user command. */
  #command: AbortController | undefined;
  #commandEnded: Promise<void> = Promise.resolve();
  #isWatching = false;

  /**
   * Starts the process. Throws ProviderError `SESSION_CREATE_FAILED`, or the reason of `signal` if the signal aborts;
   * in both cases no process is left.
   */
  static async start(
    options: ClaudeSessionOptions,
    signal: AbortSignal,
    load = loadSdk,
  ): Promise<ClaudeSession> {
    const sdk = await load();
    signal.throwIfAborted();
    const session = ClaudeSession.#make(sdk, options);
    const giveUp = (): void => void session.#process.end(false);
    signal.addEventListener('abort', giveUp);
    try {
      await session.#initialise();
      return session;
    } catch (error) {
      session.#isAlive = false;
      await session.#process.end(false);
      signal.throwIfAborted();
      throw notStarted(options, session.#process.explain(error), error);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  static #make(sdk: ClaudeSdk, options: ClaudeSessionOptions): ClaudeSession {
    try {
      return new ClaudeSession(sdk, options);
    } catch (error) {
      throw notStarted(options, thrownMessage(error), error);
    }
  }

  private constructor(sdk: ClaudeSdk, options: ClaudeSessionOptions) {
    this.#options = options;
    this.#status = new SessionStatus({
      ...options,
      mayBypass: mayBypass(options.env),
      update: (update) => options.output.update(update),
    });
    this.#translator = new ClaudeTranslator({
      cwd: options.projectDir,
      createTurnId: () => randomUUID(),
      emit: this.#onDraft,
    });
    for (const words of options.notices ?? []) this.#translator.notice(words);
    const approvalOutput = {
      open: (request: Parameters<ClaudeTranslator['openApproval']>[0]) =>
        this.#translator.openApproval(request, now()),
      close: (id: string, outcome: Parameters<ClaudeTranslator['closeApproval']>[1]) => {
        this.#translator.closeApproval(id, outcome, now());
        this.#sendNote(outcome);
      },
      offersAutoMode: () => this.#status.offersMode('auto'),
      canAsk: () => this.#translator.turn !== undefined,
      titleOfSubagent: (agentId: string) => this.#translator.titleOfTask(agentId),
    };
    this.#approvals = new ClaudeApprovals(
      approvalOutput,
      options.projectDir,
      options.project,
      this.#notes,
    );
    this.#process = new ClaudeProcess(sdk, options, this.#approvals);
    this.#process.on('message', (message) => this.#onMessage(message));
    this.#process.on('errorOutput', (output) => this.#status.readErrorOutput(output));
    this.#process.on('gone', (error) => this.#onGone(error));
  }

  readonly accepts = accepted;

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get agentSessionId(): string {
    return this.#status.agentSessionId;
  }

  /** The present settings, with which the session's next process starts. */
  get memory(): Config {
    return this.#status.config;
  }

  /**
   * Sends a user message; resolves when its turn has begun. First waits until the agent has handled earlier messages
   * and has ended any turn that it began by itself. Throws ProviderError `PROCESS_CRASH` or `TURN_IN_PROGRESS`.
   */
  async send(text: string, turnId: string, blocks: readonly ContentBlock[]): Promise<void> {
    this.#options.marks.noteSent(turnId);
    this.#checkAlive();
    const turn = this.#translator.turn;
    const isForAnother = turn?.trigger === 'user' && !this.#steered.has(turn.turnId);
    if (this.#sending !== undefined || isForAnother) {
      throw errors.TURN_IN_PROGRESS.working('Claude Code');
    }
    const command = blocks.length === 0 ? userCommandIn(text) : undefined;
    const sending = { turnId, bound: Promise.withResolvers<void>(), isStopped: false };
    this.#sending = sending;
    // The promise may reject while the code below still waits for the agent's own turn. The empty handler prevents an
    // unhandled rejection.
    sending.bound.promise.catch(() => undefined);
    try {
      const answer = await answerFor(text, this.#status.commands);
      while (this.#translator.isBusy) await this.#turnEnd.promise;
      this.#checkAlive();
      if (command !== undefined) return this.#runCommand(command, text, sending);
      if (answer !== undefined) return this.#answerLocally(turnId, text, answer);
      const uuid = this.#newUuid(turnId);
      this.#translator.expect({ uuid, turnId, text, blocks });
      this.#process.push(uuid, claudePrompt(text, blocks, this.#options.projectDir));
      await sending.bound.promise;
    } finally {
      this.#sending = undefined;
    }
  }

  /** Runs a user's command and sends Claude Code the result. The model reads the result with the next message. */
  #runCommand(command: string, text: string, { turnId, isStopped }: Sending): void {
    const { projectDir: cwd, output, runsUserCommands } = this.#options;
    if (!runsUserCommands) {
      const start = { modelId: 'none', providerId: 'claude-code', turnId, message: text };
      return answerLocally((draft) => output.emit(draft), { ...start, answer: commandsForbidden });
    }
    const running = new AbortController();
    this.#command = running;
    const items = this.#translator.beginCommand(turnId, text, command, now());
    if (isStopped) this.#stopCommand(running);
    const print = (words: string): void => {
      this.#translator.at(now());
      items.print(words);
    };
    const env = this.#process.commandEnvironment;
    const ended = runUserCommand({ command, cwd, env, signal: running.signal, print });
    const failed = (error: unknown) => ({
      output: '',
      exitCode: null,
      problem: thrownMessage(error),
    });
    this.#commandEnded = ended.catch(failed).then((result) => {
      this.#command = undefined;
      if (!this.#isAlive) return;
      this.#translator.at(now());
      items.end(result);
      this.#reportCommand(turnId, command, result);
      const isComplete = !running.signal.aborted;
      const how = isComplete
        ? (['completed', 'end_turn'] as const)
        : (['cancelled', 'cancelled'] as const);
      const [status, finishReason] = how;
      this.#translator.endCommand({ type: 'response_done', status, finishReason }, now());
    });
  }

  /**
   * If a person allows a call and adds a note, sends the note as a message. The model reads the message after the call.
   * The SDK's answer has a field for a note only if the answer is a refusal.
   */
  #sendNote(outcome: ApprovalOutcome): void {
    if (outcome.outcome !== 'selected' || outcome.note === undefined) return;
    if (!outcome.optionId.startsWith('allow')) return;
    const uuid = randomUUID();
    this.#options.marks.noteSent(uuid);
    this.#notes.add(uuid);
    this.#process.push(uuid, outcome.note, { priority: 'next' });
  }

  /** Sends Claude Code a user's command and its output, in the form that Claude Code's own terminal stores. */
  #reportCommand(
    turnId: string,
    command: string,
    { output, problem = '' }: UserCommandResult,
  ): void {
    const printed = `<bash-stdout>${output}</bash-stdout><bash-stderr>${problem}</bash-stderr>`;
    const [input, result] = [isUuid(turnId) ? turnId : randomUUID(), randomUUID()];
    for (const uuid of [input, result]) this.#options.marks.noteSent(uuid);
    // Without `client_composed`, Claude Code reads an @ in the output as a mention of a file.
    const how = { shouldQuery: false, client_composed: true } as const;
    this.#process.push(input, `<bash-input>${command}</bash-input>`, how);
    this.#process.push(result, printed, how);
  }

  #stopCommand(running: AbortController): void {
    this.#translator.stop(now());
    running.abort();
  }

  #answerLocally(turnId: string, message: string, answer: string): void {
    const start = { modelId: this.#translator.modelId, providerId: 'claude-code' };
    const emit = (draft: EventDraft): void => this.#options.output.emit(draft);
    answerLocally(emit, { ...start, turnId, message, answer });
  }

  /** Throws ProviderError `NOTHING_TO_STEER` or `PROCESS_CRASH`. */
  async steer(
    text: string,
    { turnId, messageId }: SteerTarget,
    blocks: readonly ContentBlock[],
  ): Promise<void> {
    this.#checkAlive();
    if (this.#translator.turn?.turnId !== turnId) throw errors.NOTHING_TO_STEER.noTurn();
    if (this.#isStopping) throw errors.NOTHING_TO_STEER.stopping();
    if (this.#command !== undefined) throw errors.NOTHING_TO_STEER.duringCommand();
    if (userCommandIn(text) !== undefined) throw errors.NOTHING_TO_STEER.isCommand();
    const uuid = this.#newUuid(messageId);
    this.#steered.set(messageId, true);
    this.#translator.steer({ uuid, turnId: messageId, text, blocks }, now());
    this.#process.push(uuid, claudePrompt(text, blocks, this.#options.projectDir), {
      priority: 'next',
    });
  }

  /**
   * Returns the id for sending a message: the first time the message's own id, then a new id each time, because Claude
   * Code ignores a message that has the id of a withdrawn message.
   */
  #newUuid(messageId: string): UUID {
    const uuid = isUuid(messageId) && !this.#uuids.has(messageId) ? messageId : randomUUID();
    this.#uuids.set(messageId, uuid);
    this.#options.marks.noteSent(uuid);
    return uuid;
  }

  /** Stops the running turn, or a turn that is about to begin. Throws ProviderError `INTERRUPT_FAILED`. */
  async cancel(): Promise<void> {
    if (!this.#isAlive) return;
    if (this.#command !== undefined) this.#stopCommand(this.#command);
    else if (this.#translator.turn !== undefined) await this.#stopTurn();
    // Claude Code ignores an interrupt that arrives before Claude Code has begun to work on the message.
    else if (this.#sending !== undefined) this.#sending.isStopped = true;
  }

  /** Ends a running turn as cancelled, then the process and all its descendants. */
  async close(): Promise<void> {
    if (this.#isAlive) {
      this.#isAlive = false;
      this.#command?.abort();
      const isBusy = this.#translator.turn !== undefined && this.#command === undefined;
      this.#endTurn({ type: 'response_done', status: 'cancelled', finishReason: 'killed' });
      this.#ended = Promise.all([this.#process.end(isBusy), this.#commandEnded]).then(
        () => undefined,
      );
      this.#options.output.exit({ expected: true });
    }
    await this.#ended;
  }

  /** Throws ProviderError `APPROVAL_NOT_FOUND` or `INVALID_OPTION`. */
  async answerApproval(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    this.#approvals.answer(approvalId, answer);
  }

  /** Throws ProviderError `INVALID_OPTION` or `PROCESS_CRASH`. */
  async setConfigOption(id: string, value: string): Promise<void> {
    this.#checkAlive();
    await this.#status.choose(this.#process.query, id, value);
    // Read the settings again, because a new model can have another effort.
    void this.#readSettings().catch(() => undefined);
  }

  /** Throws ProviderError `PROCESS_CRASH`. */
  async setDirectories(folders: readonly string[]): Promise<boolean> {
    this.#checkAlive();
    await setDirectories(this.#process.query, folders);
    return true;
  }

  /** Sets the session's title in Claude Code's own store. */
  async rename(title: string): Promise<void> {
    this.#checkAlive();
    const request: unknown = Reflect.get(this.#process.query, 'renameSession');
    if (typeof request !== 'function') return;
    await Reflect.apply(request, this.#process.query, [title, this.agentSessionId]);
  }

  /** Throws ProviderError `TASK_NOT_FOUND` or `INTERRUPT_FAILED`. */
  async background(callId?: string): Promise<void> {
    this.#checkAlive();
    // Without a call id Claude Code always reports success, even if no call runs.
    if (callId === undefined && this.#translator.turn === undefined)
      throw errors.TASK_NOT_FOUND.call();
    const moved = await this.#process.query.backgroundTasks(callId).catch((error: unknown) => {
      const why = this.#process.explain(error);
      throw errors.INTERRUPT_FAILED.call('Claude Code', why, { cause: error });
    });
    if (!moved) throw errors.TASK_NOT_FOUND.call();
  }

  /** Throws ProviderError `TASK_NOT_FOUND` or `INTERRUPT_FAILED`. */
  async stopTask(taskId: string): Promise<void> {
    this.#checkAlive();
    if (!this.#tasks.some((task) => task.taskId === taskId)) throw errors.TASK_NOT_FOUND.task();
    try {
      await this.#process.query.stopTask(taskId);
    } catch (error) {
      const why = this.#process.explain(error);
      throw errors.INTERRUPT_FAILED.task('Claude Code', why, { cause: error });
    }
  }

  /** Throws ProviderError `NO_CHECKPOINT` or `PROCESS_CRASH`. */
  async rewindFiles(turnId: string, dryRun: boolean): Promise<RewindResult> {
    this.#checkAlive();
    // Begin with a dry run, because only a dry run lists the files.
    const {
      filesChanged: files = [],
      insertions = 0,
      deletions = 0,
    } = await this.#rewind(turnId, true);
    const result = { files, insertions, deletions };
    if (dryRun || files.length === 0) return result;
    const { skippedLinks: skipped = 0 } = await this.#rewind(turnId, false);
    return skipped === 0 ? result : { ...result, skipped };
  }

  /** Throws ProviderError `CANNOT_REWIND` or `PROCESS_CRASH`. */
  async rewindConversation({ turnIds }: ConversationRewind): Promise<void> {
    this.#checkAlive();
    const { agentSessionId } = this;
    const { projectDir } = this.#options;
    await rewindConversation(this.#process.query, { agentSessionId, projectDir, turnIds });
  }

  /** Throws ProviderError `NOT_ANSWERED` or `PROCESS_CRASH`. */
  async aside(question: string): Promise<string> {
    this.#checkAlive();
    return askAside(this.#process.query, question);
  }

  async setup(): Promise<SessionSetup> {
    this.#checkAlive();
    return readSetup(this.#process.query, this.#status.plugins);
  }

  async listMcpServers(): Promise<McpServerState[]> {
    this.#checkAlive();
    return listMcpServers(this.#process.query);
  }

  /** Throws ProviderError `INVALID_OPTION` or `PROCESS_CRASH`. */
  async changeMcpServer(name: string, action: McpAction): Promise<McpActionResult> {
    this.#checkAlive();
    return changeMcpServer(this.#process.query, name, action);
  }

  async #rewind(turnId: string, dryRun: boolean): Promise<RewindFilesResult> {
    try {
      const uuid = this.#uuids.get(turnId) ?? turnId;
      const result = await this.#process.query.rewindFiles(uuid, { dryRun });
      if (result.canRewind) return result;
      throw new Error(result.error ?? 'Claude Code gives no reason.');
    } catch (error) {
      this.#checkAlive();
      throw errors.NO_CHECKPOINT.because(thrownMessage(error), { cause: error });
    }
  }

  async #initialise(): Promise<void> {
    const started = await this.#process.initialise();
    const { query } = this.#process;
    await applyAfterStart(query, this.memory);
    const { additionalDirectories = [] } = this.#options;
    if (additionalDirectories.length > 0) await setDirectories(query, additionalDirectories);
    this.#status.begin(started, await askSettings(query));
    void this.#watchServers();
  }

  /**
   * Polls and reports starting MCP servers until none is left: Claude Code itself reports MCP servers only with each
   * turn.
   */
  async #watchServers(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    try {
      for (;;) {
        const servers = await this.#process.query.mcpServerStatus();
        if (!this.#isAlive) return;
        this.#status.updateServers(servers);
        if (!servers.some(({ status }) => status === 'pending')) return;
        await delay(serverLookMs, undefined, { ref: false });
      }
    } catch {
      // The program has ended, or cannot answer. Claude Code reports its MCP servers with the next turn.
    } finally {
      this.#isWatching = false;
    }
  }

  #checkAlive(): void {
    if (!this.#isAlive) throw errors.PROCESS_CRASH.notRunning('Claude Code');
  }

  #onMessage(message: unknown): void {
    if (!this.#isAlive) return;
    // Nearly all messages are plain deltas. Plain deltas skip the schemas below, because the schemas need more time
    // than all other steps.
    if (isPlainDelta(message)) {
      this.#status.noteDelta();
      return this.#translator.readDelta(message, now());
    }
    const facts = readFacts(message);
    this.#status.read(message, facts, this.#translator.turn !== undefined);
    this.#notes.read(message);
    if (facts?.elicitation_id !== undefined) this.#approvals.completeLink(facts.elicitation_id);
    this.#translator.read(message, now());
    this.#reportTasks();
    // Claude Code can lose an interrupt that arrives between two model calls, so interrupt again when the next call
    // begins.
    if (facts?.status === 'requesting' && this.#isStopping) void this.#interruptAgain();
    if (facts?.status === 'requesting') void this.#noteAllowed();
    if (facts?.subtype === 'init') void this.#watchServers();
    if (isLocalResult(message)) void this.#readSettings().catch(() => undefined);
  }

  /**
   * Accepts the change that a lasting permission causes in the settings file. Claude Code has written the file by the
   * next model call.
   */
  async #noteAllowed(): Promise<void> {
    const { project } = this.#options;
    if (project.hasAllowed) await project.mayUseNow().catch(() => undefined);
  }

  #reportTasks(): void {
    const { tasks } = this.#translator;
    if (tasks === this.#tasks) return;
    this.#tasks = tasks;
    this.#options.output.update({ tasks });
    const commands = tasks.filter(({ kind }) => kind === 'command');
    this.#taskOutput.watch(commands.map(({ taskId }) => taskId));
  }

  async #readOutput(taskId: string): Promise<void> {
    const output = await askOutput(this.#process.query, taskId);
    if (!this.#isAlive || output === undefined) return;
    this.#translator.readOutput(taskId, output);
    this.#reportTasks();
  }

  async #readSettings(): Promise<void> {
    const settings = await askSettings(this.#process.query);
    if (this.#isAlive) this.#status.updateSettings(settings);
  }

  readonly #onDraft = (draft: EventDraft): void => {
    this.#options.output.emit(draft);
    if (draft.payload.type === 'response_start') this.#onTurnStart(draft.turnId);
    if (isTerminal(draft.payload)) this.#onTurnEnd();
  };

  #onTurnStart(turnId: string): void {
    const sending = this.#sending;
    if (sending?.turnId !== turnId) return;
    sending.bound.resolve();
    // The turn is just beginning: stop the turn as soon as it has begun.
    if (sending.isStopped) queueMicrotask(() => void this.#interruptAgain());
  }

  #onTurnEnd(): void {
    this.#isStopping = false;
    this.#status.turnEnded();
    this.#approvals.cancelAll('turn_ended');
    this.#notes.giveUp();
    this.#turnEnd.resolve();
    this.#turnEnd = Promise.withResolvers();
  }

  async #stopTurn(): Promise<void> {
    this.#isStopping = true;
    this.#translator.stop(now());
    try {
      // Withdraw unread messages before the interrupt: Claude Code begins a turn for messages that are unread after an
      // interrupt.
      await this.#withdrawUnread();
      await this.#process.query.interrupt();
    } catch (error) {
      if (!this.#isAlive) return;
      const why = this.#process.explain(error);
      throw errors.INTERRUPT_FAILED.turn('Claude Code', why, { cause: error });
    }
  }

  /** Withdraws unread messages. A message that Claude Code does not release within the limit gets its own turn. */
  async #withdrawUnread(): Promise<void> {
    const { unread } = this.#translator;
    if (unread.length === 0) return;
    const signal = AbortSignal.timeout(withdrawLimitMs);
    const late = once(signal, 'abort');
    const withdraw = async (uuid: string): Promise<void> => {
      // Retry until Claude Code has queued the message: before that, the message cannot be withdrawn.
      while (this.#translator.unread.includes(uuid) && !(await this.#process.withdraw(uuid)))
        await once(this.#process, 'message', { signal });
    };
    const withdrawals = Promise.all(unread.map(withdraw));
    await Promise.race([withdrawals.catch(() => undefined), late]);
  }

  /** Repeats an earlier interrupt. Ignores errors, because no caller waits for the result. */
  async #interruptAgain(): Promise<void> {
    await this.#stopTurn().catch(() => undefined);
  }

  #onGone(error: unknown): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#command?.abort();
    const { code, message } = this.#crash(error);
    this.#endTurn({ type: 'response_error', error: { code, message } });
    // End the process even if it has exited: its children may still run.
    this.#ended = Promise.all([this.#process.end(false), this.#commandEnded]).then(() => undefined);
    this.#options.output.exit({ expected: false, code, message });
  }

  #endTurn(terminal: Parameters<ClaudeTranslator['end']>[0]): void {
    this.#translator.end(terminal, now());
    this.#taskOutput.watch([]);
    this.#approvals.cancelAll('process_ended');
    this.#sending?.bound.reject(
      this.#crash(new Error('The process was stopped before Claude Code answered.')),
    );
    this.#turnEnd.resolve();
  }

  #crash(cause: unknown): ProviderError {
    return errors.PROCESS_CRASH.ended('Claude Code', this.#process.explain(cause), { cause });
  }
}

/**
 * Sets the additional folders in the running process. The folders only let the agent read and edit more files. With the
 * SDK's option `additionalDirectories`, Claude Code would also use the folders' skills, although nobody has allowed
 * these skills.
 */
async function setDirectories(query: Query, folders: readonly string[]): Promise<void> {
  await query.applyFlagSettings({ permissions: { additionalDirectories: [...folders] } });
}

function notStarted(
  { projectDir }: ClaudeSessionOptions,
  why: string,
  cause: unknown,
): ProviderError {
  return errors.SESSION_CREATE_FAILED.notStartedIn('Claude Code', projectDir, why, { cause });
}
