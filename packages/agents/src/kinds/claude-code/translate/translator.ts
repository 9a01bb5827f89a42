import type { ApprovalOutcome, BackgroundTask, ContentBlock, EventDraft } from '@liminal/protocol';
import { BackgroundTasks } from './background-tasks.ts';
import type { CommandItems } from './command-items.ts';
import { preservedMessages, readCompaction, type CompactionStep } from './compaction.ts';
import { BoundedList } from '../../../base/bounded-list.ts';
import {
  parseNative,
  type NativeMessage,
  type ResultMessage,
  type SystemMessage,
  type UserMessage,
} from './native.ts';
import { isLasting, isSilentType, readNotice, readOtherNotice } from './notices.ts';
import type { Trigger, TurnEnd } from '../../../base/turn-writer.ts';
import { isPlainDelta, type PlainDelta } from './native.ts';
import { ClaudeTurn, TurnMemory } from './turn.ts';

/** A sent user message; the agent's answers refer to the message by `uuid`. */
export interface ExpectedTurn {
  uuid: string;
  turnId: string;
  text: string;
  blocks?: readonly ContentBlock[];
}

export interface TranslatorOptions {
  /** The session's folder. */
  cwd: string;
  /** Makes ids for turns that the agent begins by itself. */
  createTurnId: () => string;
  emit: (draft: EventDraft) => void;
}

/** The most notices of one kind that wait for a turn. */
const maxWaiting = 50;

/**
 * Translates Claude Code's messages of one session into canonical events. Pure: messages and their times (ISO 8601 UTC)
 * in, drafts out; no I/O and no clock.
 *
 * A turn begins when the agent begins to work on the user's message, or sends a message by itself, and ends at
 * `result`. `message_start` and `message_stop` mark model calls, not turns (TC-3.3f, and the notes on Claude Code).
 */
export class ClaudeTranslator {
  readonly #options: TranslatorOptions;
  readonly #expected = new Map<string, ExpectedTurn>();
  /** The `uuid` of the message that the agent began to work on last. */
  #started = '';
  /** Steered messages that the agent has not read yet, by `uuid`. */
  readonly #steered = new Map<string, ExpectedTurn>();
  readonly #memory = new TurnMemory();
  readonly #tasks = new BackgroundTasks();
  /** Sentences about background tasks and compactions that ended between turns. */
  readonly #ends: string[] = [];
  /** All other notices that wait for the next turn. */
  readonly #pendingNotices: string[] = [];
  /**
   * The `uuid`s of messages that the last compaction kept, and that are not shown again if Claude Code sends them
   * again.
   */
  #preserved: ReadonlySet<string> = new Set();
  /** Messages that background subagents sent between turns; the next turn shows them. */
  readonly #between = new BoundedList();
  readonly #cost = new CostMeter();
  #turn: ClaudeTurn | undefined;
  /** Whether the running turn is a user's command, so that only the command's end ends the turn. */
  #isCommand = false;
  #modelId = 'unknown';

  constructor(options: TranslatorOptions) {
    this.#options = options;
  }

  /** The model of the newest turn. */
  get modelId(): string {
    return this.#modelId;
  }

  /** Returns the title of the task with this id, in the background or not. */
  titleOfTask(taskId: string): string | undefined {
    return this.#tasks.titleOf(taskId);
  }

  /** The running background tasks; each change makes a new list. */
  get tasks(): readonly BackgroundTask[] {
    return this.#tasks.running;
  }

  /** Reads the output of a background command (`BackgroundTasks.readOutput`). */
  readOutput(taskId: string, output: string): void {
    this.#tasks.readOutput(taskId, output);
  }

  /** The running turn. */
  get turn(): { turnId: string; trigger: Trigger } | undefined {
    return this.#turn;
  }

  /** Whether a turn is running, or will begin for a message that was sent to the agent. */
  get isBusy(): boolean {
    return this.#turn !== undefined || this.#expected.size > 0;
  }

  expect(expected: ExpectedTurn): void {
    this.#expected.set(expected.uuid, expected);
  }

  /** Begins the turn of a user's command. The agent's messages during the command belong to this turn. */
  beginCommand(turnId: string, text: string, command: string, timestamp: string): CommandItems {
    const turn = this.#begin(turnId, 'user', text, timestamp);
    this.#isCommand = true;
    return turn.command(command);
  }

  endCommand(end: TurnEnd, timestamp: string): void {
    this.#finish(end, timestamp);
  }

  /** Reads a message that is only a delta, without the schemas of other messages. */
  readDelta(message: PlainDelta, timestamp: string): void {
    if (this.#turn === undefined) return this.read(message, timestamp);
    this.#turn.at(timestamp);
    if (message.parent_tool_use_id == null) this.#turn.stream(message, message.event);
  }

  read(native: unknown, timestamp: string): void {
    if (this.#turn !== undefined && isPlainDelta(native)) return this.readDelta(native, timestamp);
    const message = parseNative(native);
    if (message === undefined) return this.#readOther(native, timestamp);
    this.#turn?.at(timestamp);
    this.#takeUp(message, timestamp);
    this.#translate(message, timestamp);
  }

  #readOther(native: unknown, timestamp: string): void {
    const words = readOtherNotice(native);
    if (words === undefined) {
      if (!isSilentType(native)) this.#turn?.keep(native);
      return;
    }
    this.#turn?.at(timestamp);
    // Claude Code refers to the message `/clear` only when the command has ended, so begin the message's turn here.
    if (this.#turn === undefined) this.#beginStarted(timestamp);
    this.notice(words);
  }

  /**
   * Adds a message to the running turn. If the agent reads the message only after that turn, the message begins its own
   * turn with the id `turnId`.
   */
  steer(message: ExpectedTurn, timestamp: string): void {
    this.#steered.set(message.uuid, message);
    this.#turn?.at(timestamp);
    this.#turn?.steer(message.turnId, message.text, message.blocks);
  }

  /** Adds a notice to the running turn; if none is running, to the next turn. */
  notice(words: string): void {
    if (this.#turn !== undefined) this.#turn.notice(words);
    else if (this.#pendingNotices.length < maxWaiting) this.#pendingNotices.push(words);
  }

  /** The `uuid`s of steered messages that the agent has not read yet. */
  get unread(): string[] {
    return [...this.#steered.keys()];
  }

  /** Records that the user asked to stop the turn. */
  stop(timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#turn?.stop();
  }

  /** Sets the time of the running turn's next events. */
  at(timestamp: string): void {
    this.#turn?.at(timestamp);
  }

  openApproval(approval: Parameters<ClaudeTurn['openApproval']>[0], timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#running(timestamp).openApproval(approval);
  }

  closeApproval(approvalId: string, outcome: ApprovalOutcome, timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#turn?.closeApproval(approvalId, outcome);
  }

  /**
   * Ends the running turn because the agent has ended or is being ended. A message that was sent and has no turn yet
   * may already be in the agent's store, so the message also gets a turn, and must not be sent again.
   */
  end(end: TurnEnd, timestamp: string): void {
    if (!this.#between.isEmpty) this.#running(timestamp);
    this.#finish(end, timestamp);
    for (const { turnId, text, blocks } of this.#expected.values()) {
      this.#begin(turnId, 'user', text, timestamp, blocks);
      this.#finish(end, timestamp);
    }
    this.#expected.clear();
  }

  /** If Claude Code's message answers a user message whose turn has not begun, begins the turn. */
  #takeUp(message: NativeMessage, timestamp: string): void {
    for (const uuid of answeredIds(message)) {
      this.#settle(uuid, 'taken');
      const expected = this.#expected.get(uuid);
      if (expected === undefined) continue;
      if (message.type === 'system' && message.model !== undefined) this.#modelId = message.model;
      this.#expected.delete(uuid);
      this.#finish({ type: 'response_done', status: 'completed', finishReason: null }, timestamp);
      this.#begin(expected.turnId, 'user', expected.text, timestamp, expected.blocks);
    }
  }

  #translate(message: NativeMessage, timestamp: string): void {
    switch (message.type) {
      case 'stream_event':
        if (message.event.type === 'ping') return;
        if (message.parent_tool_use_id != null) return;
        return this.#running(timestamp).stream(message, message.event);
      case 'assistant': {
        if (message.uuid !== undefined && this.#preserved.has(message.uuid)) return;
        const isSubagents = message.parent_tool_use_id != null;
        const turn = isSubagents ? this.#turn : this.#running(timestamp);
        return turn === undefined ? this.#keepForNext(message) : turn.assistant(message);
      }
      case 'user':
        this.#tasks.readResult(message.tool_use_result, resultText(message));
        return this.#turn === undefined ? this.#keepForNext(message) : this.#turn.user(message);
      case 'system':
        return this.#system(message, timestamp);
      case 'result':
        return this.#result(message);
      case 'command_lifecycle':
        if (message.state === 'started') this.#started = message.command_uuid;
        return this.#dropped(message.command_uuid, message.state, timestamp);
    }
  }

  #system(message: SystemMessage, timestamp: string): void {
    if (message.subtype === 'init' && message.model !== undefined) this.#modelId = message.model;
    if (message.subtype === 'api_retry') this.#turn?.retry();
    if (message.status === 'requesting') this.#running(timestamp);
    const ended = this.#tasks.read(message, timestamp);
    if (ended !== undefined) this.#reportEnd(ended);
    const preserved = preservedMessages(message);
    if (preserved !== undefined) this.#preserved = new Set(preserved);
    const compaction = readCompaction(message);
    if (compaction !== undefined) return this.#compact(compaction, timestamp);
    const notice = readNotice(message);
    if (notice === 'unknown') this.#turn?.keep(message);
    else if (notice === 'silent') return;
    // These notices wait if no turn is running: hooks may run when the process starts, or before Claude Code reports
    // the user message on which it works.
    else if (isLasting(message)) this.notice(notice.show);
    else this.#turn?.notice(notice.show);
  }

  /**
   * Reads a step of a compaction. A compaction between turns does not begin a turn, because no `result` would end the
   * turn: the next turn shows the compaction's end.
   */
  #compact(step: CompactionStep, timestamp: string): void {
    const turn = this.#turn ?? this.#beginStarted(timestamp);
    if (turn !== undefined) turn.compact(step);
    else if (step.state === 'ended') this.#reportEnd(step.words);
  }

  #result(result: ResultMessage): void {
    const cost = this.#cost.total(result.total_cost_usd);
    if (this.#isCommand) return;
    this.#leaveOver();
    const turn = this.#turn;
    this.#turn = undefined;
    turn?.result(result, cost);
  }

  #settle(uuid: string, delivery: 'taken' | 'not_taken'): void {
    const steered = this.#steered.get(uuid);
    if (steered === undefined) return;
    this.#steered.delete(uuid);
    this.#turn?.settle(steered.turnId, delivery);
  }

  /** Moves unread steered messages from the ending turn to turns of their own. */
  #leaveOver(): void {
    for (const steered of this.#steered.values()) {
      this.#turn?.leaveOver(steered.turnId);
      this.#expected.set(steered.uuid, steered);
    }
    this.#steered.clear();
  }

  /** Adds a turn for a user message that the agent dropped without an answer. */
  #dropped(uuid: string, state: string, timestamp: string): void {
    if (state === 'cancelled') this.#settle(uuid, 'not_taken');
    const expected = this.#expected.get(uuid);
    if (expected === undefined || (state !== 'completed' && state !== 'cancelled')) return;
    this.#expected.delete(uuid);
    this.#begin(expected.turnId, 'user', expected.text, timestamp, expected.blocks);
    this.#finish({ type: 'response_done', status: state, finishReason: null }, timestamp);
  }

  /**
   * Shows that a task or compaction has ended: in the running turn, or else at the start of the next turn. That turn
   * usually begins because the task or compaction has ended.
   */
  #reportEnd(ended: string): void {
    if (this.#turn !== undefined) this.#turn.notice(ended);
    else if (this.#ends.length < maxWaiting) this.#ends.push(ended);
  }

  #keepForNext(message: NativeMessage): void {
    this.#between.add(message);
  }

  /** Returns the running turn; if no turn is running, begins a turn. */
  #running(timestamp: string): ClaudeTurn {
    return (
      this.#turn ??
      this.#beginStarted(timestamp) ??
      this.#begin(this.#options.createTurnId(), 'agent', undefined, timestamp)
    );
  }

  /**
   * Begins the turn of the user message that the agent last reported as started. For some messages, for example
   * `/compact`, the agent sends nothing else that shows the beginning.
   */
  #beginStarted(timestamp: string): ClaudeTurn | undefined {
    const expected = this.#expected.get(this.#started);
    if (expected === undefined) return undefined;
    const { uuid, turnId, text, blocks } = expected;
    this.#expected.delete(uuid);
    return this.#begin(turnId, 'user', text, timestamp, blocks);
  }

  #begin(
    turnId: string,
    trigger: Trigger,
    text: string | undefined,
    timestamp: string,
    blocks: readonly ContentBlock[] = [],
  ): ClaudeTurn {
    const { cwd, emit } = this.#options;
    const turn = new ClaudeTurn(
      { turnId, trigger, modelId: this.#modelId },
      cwd,
      this.#memory,
      emit,
    );
    this.#turn = turn;
    turn.begin(timestamp, text, blocks);
    if (trigger === 'agent' && this.#ends.length === 0) turn.beginUnasked();
    for (const words of [...this.#ends.splice(0), ...this.#pendingNotices.splice(0)])
      turn.notice(words);
    for (const one of this.#between.take()) {
      const message = parseNative(one);
      if (message === undefined) turn.keep(one);
      else this.#translate(message, timestamp);
    }
    return turn;
  }

  #finish(end: TurnEnd, timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#leaveOver();
    const turn = this.#turn;
    this.#turn = undefined;
    this.#isCommand = false;
    turn?.end(end);
  }
}

/**
 * The session's cost. Claude Code reports the cost since the start of the conversation. After `/clear`, and in a new
 * process, the reported cost starts again at 0.
 */
class CostMeter {
  #before = 0;
  #latest = 0;

  /** Returns the session's cost so far, in US dollars. */
  total(reported: number | undefined): number | undefined {
    if (reported === undefined) return undefined;
    if (reported < this.#latest) this.#before += this.#latest;
    this.#latest = reported;
    return this.#before + reported;
  }
}

function answeredIds(message: NativeMessage): string[] {
  if (message.type === 'command_lifecycle' || message.type === 'user') return [];
  return (
    message.user_message_uuids ??
    (message.user_message_uuid === undefined ? [] : [message.user_message_uuid])
  );
}

/** Returns the texts of all tool results in a message. */
function resultText({ message }: UserMessage): string {
  const contents = message.content.map(({ content }) => content);
  return contents.filter((content) => typeof content === 'string').join('\n');
}
