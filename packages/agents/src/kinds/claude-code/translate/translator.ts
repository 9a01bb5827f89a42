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
import { isPlainDelta } from './native.ts';
import { ClaudeTurn, TurnMemory } from './turn.ts';

/** A sent user message; the agent's answers refer to it by `uuid`. */
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

/** Most notices of a kind that wait for a turn. */
const maxWaiting = 50;

/**
 * Translates Claude Code's messages of one session into canonical events. Pure: messages and their times (ISO 8601 UTC)
 * in, drafts out; no I/O and no clock.
 *
 * A turn begins when the agent begins to work on the user's message, or sends a message by itself, and ends at
 * `result`: `message_start` and `message_stop` arrive once per model call (TC-3.3f, and the notes on Claude Code).
 */
export class ClaudeTranslator {
  readonly #options: TranslatorOptions;
  readonly #expected = new Map<string, ExpectedTurn>();
  /** The `uuid` of the message that the agent began to work on last. */
  #started = '';
  /** Messages for the running turn that the agent has not read yet, by `uuid`. */
  readonly #steered = new Map<string, ExpectedTurn>();
  readonly #memory = new TurnMemory();
  readonly #tasks = new BackgroundTasks();
  /** Sentences about what ended between turns. */
  readonly #ends: string[] = [];
  /** Other notices for the next turn. */
  readonly #pendingNotices: string[] = [];
  /** The `uuid`s of messages that the last compaction kept; they were already shown. */
  #preserved: ReadonlySet<string> = new Set();
  /** Messages of background subagents between turns, for the next turn. */
  readonly #between = new BoundedList();
  readonly #cost = new CostMeter();
  #turn: ClaudeTurn | undefined;
  /** Whether the running turn is a user's command; then only the command's end ends the turn. */
  #isCommand = false;
  #modelId = 'unknown';

  constructor(options: TranslatorOptions) {
    this.#options = options;
  }

  /** The model of the newest turn. */
  get modelId(): string {
    return this.#modelId;
  }

  /** The title of the task with this id, in the background or not. */
  titleOfTask(taskId: string): string | undefined {
    return this.#tasks.titleOf(taskId);
  }

  /** The running background tasks; each change makes a new list. */
  get tasks(): readonly BackgroundTask[] {
    return this.#tasks.running;
  }

  /** Applies the output of a background command. */
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

  read(native: unknown, timestamp: string): void {
    if (this.#turn !== undefined && isPlainDelta(native)) {
      this.#turn.at(timestamp);
      if (native.parent_tool_use_id == null) this.#turn.stream(native, native.event);
      return;
    }
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
    // The message of `/clear` is identified only at its end, so begin its turn here.
    if (this.#turn === undefined) this.#beginStarted(timestamp);
    this.notice(words);
  }

  /**
   * Adds a message to the running turn. If the agent reads it only after that turn, it begins its own turn `turnId`.
   */
  steer(message: ExpectedTurn, timestamp: string): void {
    this.#steered.set(message.uuid, message);
    this.#turn?.at(timestamp);
    this.#turn?.steer(message.turnId, message.text, message.blocks);
  }

  /** Adds a notice to the running turn, or otherwise to the next turn. */
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
   * Ends the running turn because the agent has ended or is being ended. A sent message that has no turn yet may
   * already be in the agent's store: it also gets a turn, and must not be sent again.
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

  /** Begins a turn if a message answers one of the expected user messages. */
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
    // Hooks may run when the process starts, or before Claude Code identifies their message.
    else if (isLasting(message)) this.notice(notice.show);
    else this.#turn?.notice(notice.show);
  }

  /**
   * Applies a compaction's step. Between turns it begins no turn, which no result would end: the next turn shows its
   * end.
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

  /** Shows an end in the running turn, or at the start of the next turn, whose reason it usually is. */
  #reportEnd(ended: string): void {
    if (this.#turn !== undefined) this.#turn.notice(ended);
    else if (this.#ends.length < maxWaiting) this.#ends.push(ended);
  }

  #keepForNext(message: NativeMessage): void {
    this.#between.add(message);
  }

  /** The running turn, or a new one that the agent begins by itself. */
  #running(timestamp: string): ClaudeTurn {
    return (
      this.#turn ??
      this.#beginStarted(timestamp) ??
      this.#begin(this.#options.createTurnId(), 'agent', undefined, timestamp)
    );
  }

  /** Begins the turn of a message whose processing the agent has reported only by its state, for example `/compact`. */
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

/** Claude Code counts cost from the start of a conversation; `/clear` and a new process start over. */
class CostMeter {
  #before = 0;
  #latest = 0;

  /** The session's cost so far, in US dollars. */
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

/** The texts of the tool results in a message. */
function resultText({ message }: UserMessage): string {
  const contents = message.content.map(({ content }) => content);
  return contents.filter((content) => typeof content === 'string').join('\n');
}
