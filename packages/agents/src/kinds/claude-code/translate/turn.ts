import type { ApprovalOutcome, ContentBlock } from '@liminal/protocol';
import type { ApprovalRequest } from '../../../base/pending-approvals.ts';
import { ClaudeCalls } from './calls.ts';
import { CommandItems } from './command-items.ts';
import { Compactions, type CompactionStep } from './compaction.ts';
import type {
  ApiEvent,
  AssistantMessage,
  NativeBlock,
  NativeUsage,
  ResultMessage,
  StreamMessage,
  UserMessage,
} from './native.ts';
import { byItself, isTaskReport, originKind, describeOrigin, type Origin } from './origin.ts';
import { inElement } from './in-element.ts';
import { ClaudePlan } from './plan.ts';
import { hasReachedLimit, readOutcome } from './outcome.ts';
import { isToolUse, StreamedMessage } from './streamed-message.ts';
import { TurnWriter, type Emit, type Trigger, type TurnEnd } from '../../../base/turn-writer.ts';

/** The start of a turn. */
interface Start {
  turnId: string;
  modelId: string;
  trigger: Trigger;
}

/** The state that all turns of a session share. */
export class TurnMemory {
  readonly plan = new ClaudePlan();
  /**
   * Calls of background subagents, by id. A call may last longer than its turn, so the call is shown only with its
   * result.
   */
  readonly held = new Map<string, { block: NativeBlock; parentCallId: string }>();
}

const commandOutput = /^<(local-command|bash)-std(?:out|err)>/;
const outputEnd = /<\/(?:local-command|bash)-std(?:out|err)>$/;

/**
 * Returns whether a text is Claude Code's report of a compaction. The text is not shown, because the turn already shows
 * the compaction.
 */
export const isCompacted = (printed: string): boolean =>
  /^Compacted(?: \([^)]*\))?$/.test(printed.trim());

/** One turn's translation: Claude Code's messages in, canonical events out. */
export class ClaudeTurn {
  readonly turnId: string;
  readonly trigger: Trigger;
  readonly #writer: TurnWriter;
  readonly #cwd: string;
  readonly #calls: ClaudeCalls;
  readonly #compactions: Compactions;
  readonly #held: TurnMemory['held'];
  readonly #modelId: string;
  /** For each message: the message's number in the turn, and how many of its blocks arrived whole. */
  readonly #numbers = new Map<string, { ordinal: number; blocks: number }>();
  /** The ids of each message's items. The items are withdrawn if a later message replaces their message. */
  readonly #messageItems = new Map<string, string[]>();
  #streaming: StreamedMessage | undefined;
  #lastUsage: NativeUsage | undefined;
  #errorCategory: string | undefined;
  #isStopping = false;
  /** The kinds of senders whose messages have been shown. */
  readonly #senders = new Set<string>();

  constructor(start: Start, cwd: string, memory: TurnMemory, emit: Emit) {
    this.turnId = start.turnId;
    this.trigger = start.trigger;
    this.#modelId = start.modelId;
    this.#held = memory.held;
    this.#writer = new TurnWriter(start.turnId, emit);
    this.#cwd = cwd;
    this.#calls = new ClaudeCalls(this.#writer, cwd, memory.plan);
    this.#compactions = new Compactions(this.#writer);
  }

  /** Begins the turn. @param text - The user's message; undefined if the agent began the turn. */
  begin(timestamp: string, text: string | undefined, blocks: readonly ContentBlock[] = []): void {
    this.#writer.at(timestamp);
    const { trigger } = this;
    const start = { modelId: this.#modelId, providerId: 'claude-code', trigger };
    this.#writer.begin(start, text, blocks);
  }

  at(timestamp: string): void {
    this.#writer.at(timestamp);
  }

  /**
   * Adds the system message that the agent began the turn by itself. The message's text stays open, because the reason
   * is often known only at the turn's end.
   */
  beginUnasked(): void {
    this.#writer.start({ type: 'message', id: this.#reasonId, content: '', origin: 'system' });
    this.#writer.append(this.#reasonId, byItself);
  }

  stream(message: StreamMessage, event: ApiEvent): void {
    if (event.type === 'message_start') {
      this.retry();
      const { id, usage } = event.message;
      this.#lastUsage = usage;
      this.#streaming = new StreamedMessage(
        id,
        this.#number(id).ordinal,
        this.#writer,
        this.#calls,
      );
      return;
    }
    if (event.type === 'message_delta') this.#lastUsage = { ...this.#lastUsage, ...event.usage };
    this.#streaming?.read(event, this.#isStopping, message.abandoned_blocks);
  }

  /** Abandons the model's unfinished answer, because the request is retried. */
  retry(): void {
    this.#streaming?.abandon(this.#isStopping);
    this.#streaming = undefined;
  }

  assistant(message: AssistantMessage): void {
    if (message.is_api_error_message === true || message.error !== undefined) {
      this.#errorCategory = message.error;
      return;
    }
    for (const uuid of message.supersedes ?? []) this.#takeBack(uuid);
    const { id, content } = message.message;
    const parentCallId = message.parent_tool_use_id ?? undefined;
    const items = content.map((block) => {
      const streamed = this.#streaming?.id === id ? this.#streaming.confirm(block) : undefined;
      return streamed ?? this.#addBlock(id, block, parentCallId);
    });
    if (message.uuid !== undefined) this.#messageItems.set(message.uuid, items);
  }

  /**
   * Reads a message in the user's name: tool results, Claude Code's texts for the model, or the message of another
   * sender.
   */
  user(message: UserMessage): void {
    this.#readSender(message.origin, userText(message));
    const parentCallId = message.parent_tool_use_id ?? undefined;
    for (const block of message.message.content) {
      const callId = block.tool_use_id;
      if (callId !== undefined) {
        this.#answer(callId, block, message.tool_use_result, parentCallId);
      } else if (block.type === 'text') this.#readHarness(block.text ?? '');
      else this.#writer.keep(block);
    }
  }

  notice(content: string): void {
    this.#writer.notice(content);
  }

  /** Adds a user's command to this turn. */
  command(command: string): CommandItems {
    return new CommandItems(this.#writer, command, this.#cwd);
  }

  compact(step: CompactionStep): void {
    this.#compactions.read(step);
  }

  keep(raw: unknown): void {
    this.#writer.keep(raw);
  }

  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#writer.stop();
  }

  /** Adds a message that a person sent during the turn. */
  steer(messageId: string, text: string, blocks: readonly ContentBlock[] = []): void {
    this.#writer.steer(messageId, text, blocks);
  }

  settle(messageId: string, delivery: 'taken' | 'not_taken'): void {
    this.#writer.settle(messageId, delivery);
  }

  leaveOver(messageId: string): void {
    this.#writer.takeBack(messageId, 'own_turn');
  }

  openApproval(request: ApprovalRequest): void {
    this.#writer.openApproval(request);
  }

  closeApproval(approvalId: string, outcome: ApprovalOutcome): void {
    this.#writer.closeApproval(approvalId, outcome);
  }

  /** Ends the turn with its result. @param costUsd - The session's cost so far, in US dollars. */
  result(result: ResultMessage, costUsd: number | undefined): void {
    if (this.trigger === 'agent') this.#readReason(result.origin);
    // A turn that reached its step limit has not failed: show the text as a notice, not as the turn's error.
    if (hasReachedLimit(result)) for (const error of result.errors ?? []) this.notice(error);
    this.end(
      readOutcome(result, {
        costUsd,
        errorCategory: this.#errorCategory,
        lastUsage: this.#lastUsage,
        modelId: this.#modelId,
      }),
    );
  }

  end(end: TurnEnd): void {
    this.#compactions.close();
    this.#writer.done(this.#reasonId);
    this.#calls.closeAll(
      end.type === 'response_error'
        ? end.error.message
        : 'The turn ended before this call finished.',
    );
    this.#writer.end(end);
  }

  /**
   * Reads a text that Claude Code sends in the user's name. Only the output of Claude Code's own commands is shown; all
   * other texts are for the model.
   */
  #readHarness(text: string): void {
    if (text.startsWith('[Request interrupted by user')) this.#isStopping = true;
    const name = commandOutput.exec(text)?.[1];
    if (name === undefined || !outputEnd.test(text)) return;
    const printed = [inElement(text, `${name}-stdout`), inElement(text, `${name}-stderr`)]
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .join('\n');
    if (printed !== '' && !isCompacted(printed)) this.notice(printed);
  }

  get #reasonId(): string {
    return `${this.turnId}:reason`;
  }

  /**
   * Shows a message that no person sent; a message before the model's first answer is shown as the reason for the turn.
   */
  #readSender(origin: Origin | undefined, text: string): void {
    const why = isTaskReport(origin) ? undefined : describeOrigin(origin, text);
    if (origin === undefined || why === undefined) return;
    this.#senders.add(originKind(origin));
    if (this.#numbers.size === 0) this.#showReason(why);
    else this.notice(why);
  }

  /**
   * Shows why the agent began the turn. Skips the report of a background task that was already shown when it arrived.
   */
  #readReason(origin: Origin | undefined): void {
    const why = describeOrigin(origin);
    if (origin === undefined || why === undefined || this.#senders.has(originKind(origin))) return;
    if (this.#writer.isOpen(this.#reasonId) || !isTaskReport(origin)) this.#showReason(why);
  }

  #showReason(content: string): void {
    const id = this.#reasonId;
    if (!this.#writer.isOpen(id)) this.notice(content);
    else this.#writer.done(id, { type: 'message', id, content, origin: 'system' });
  }

  #takeBack(uuid: string): void {
    for (const itemId of this.#messageItems.get(uuid) ?? [])
      this.#writer.withdraw(itemId, 'superseded');
  }

  /** Adds a block that was not streamed; returns the id of its item. */
  #addBlock(messageId: string, block: NativeBlock, parentCallId: string | undefined): string {
    const id = this.#nextItem(messageId);
    const parent = parentCallId === undefined ? {} : { parentCallId };
    if (isToolUse(block.type)) this.#call(id, block, parentCallId);
    else if (block.tool_use_id !== undefined) {
      this.#answer(block.tool_use_id, block, undefined, parentCallId);
    } else if (block.type === 'text' && block.text !== undefined && block.text !== '') {
      const content = block.text;
      this.#writer.add({ type: 'message', id, content, origin: 'agent', ...parent });
    } else if (block.type === 'thinking' && block.thinking !== undefined && block.thinking !== '') {
      const content = block.thinking;
      this.#writer.add({ type: 'reasoning', id, content, origin: 'agent', ...parent });
    } else if (block.type !== 'text' && block.type !== 'thinking') this.#writer.keep(block);
    return id;
  }

  #call(id: string, block: NativeBlock, parentCallId: string | undefined): void {
    const isInBackground = parentCallId !== undefined && !this.#calls.isWaiting(parentCallId);
    if (isInBackground && block.id !== undefined) this.#held.set(block.id, { block, parentCallId });
    else this.#calls.complete(id, block, parentCallId);
  }

  #answer(
    callId: string,
    block: NativeBlock,
    structured: unknown,
    parentCallId: string | undefined,
  ): void {
    const held = this.#held.get(callId);
    if (held !== undefined) {
      this.#held.delete(callId);
      this.#calls.complete(`${this.turnId}:${callId}`, held.block, held.parentCallId);
    }
    const { content, is_error: isError } = block;
    this.#calls.answer({ callId, content, isError: isError === true, structured }, parentCallId);
  }

  #number(messageId: string): { ordinal: number; blocks: number } {
    const known = this.#numbers.get(messageId);
    if (known !== undefined) return known;
    const number = { ordinal: this.#numbers.size + 1, blocks: 0 };
    this.#numbers.set(messageId, number);
    return number;
  }

  /**
   * Returns an id for the item of a block that was not streamed. Such blocks are numbered separately from streamed
   * blocks.
   */
  #nextItem(messageId: string): string {
    const number = this.#number(messageId);
    return `${this.turnId}:${number.ordinal}:whole${number.blocks++}`;
  }
}

const userText = ({ message }: UserMessage): string =>
  message.content.flatMap(({ type, text = '' }) => (type === 'text' ? text : [])).join('\n');
