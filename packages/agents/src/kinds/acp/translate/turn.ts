import { readableDetail } from '../errors.ts';
import { z } from 'zod';
import type { ApprovalOutcome, ContentBlock, Usage } from '@liminal/protocol';
import type { ApprovalRequest } from '../../../base/pending-approvals.ts';
import { TurnWriter, type Emit, type Trigger, type TurnEnd } from '../../../base/turn-writer.ts';
import { RepetitionFilter } from './repetition-filter.ts';
import { AcpCalls } from './calls.ts';
import { ChildSessions } from './child-sessions.ts';
import { Compactions } from './compaction.ts';
import { isRecord, readFields } from './fields.ts';
import { updateType } from './fields.ts';
import { readNotice } from './notices.ts';
import { parentCallOf } from './parent-call.ts';
import type { PlainChunk } from './plain-chunk.ts';
import { AcpPlans, type NewestPlans } from './plan.ts';
import { SessionMessages } from './session-messages.ts';
import { MessageWriter, type Speaker } from './message-writer.ts';
import { type KnownSubagents, Subagents } from './subagents.ts';
import type { TerminalTexts } from './terminals.ts';
import { callIdOf, type Source } from './tool-call.ts';
import { readUsageUpdate, TurnUsage } from './usage.ts';

const promptResponse = {
  stopReason: z.string(),
  usage: TurnUsage,
  _meta: z.record(z.string(), z.unknown()),
};

export interface TurnOptions {
  turnId: string;
  trigger: Trigger;
  modelId: string;
  providerId: string;
  terminals: TerminalTexts;
  plans: NewestPlans;
  subagents: KnownSubagents;
  isReplay?: boolean;
  emit: Emit;
}

const chunk = { sessionUpdate: z.string(), content: z.unknown(), messageId: z.string() };

const textBlock = { type: z.literal('text'), text: z.string() };

/** Translates one turn: an ACP agent's updates in, canonical events out. */
export class AcpTurn {
  readonly turnId: string;
  readonly trigger: Trigger;
  readonly calls: AcpCalls;
  readonly #options: TurnOptions;
  readonly #writer: TurnWriter;
  readonly #messageWriter: MessageWriter;
  readonly #again: RepetitionFilter;
  readonly #plans: AcpPlans;
  readonly #messages: SessionMessages;
  readonly #subagents: Subagents;
  readonly #children: ChildSessions;
  readonly #compactions: Compactions;
  #hasFailed = false;
  /** How many of the shown notices are Liminal's own. */
  #warnings = 0;
  #echo = new PromptEcho('');
  /** Kept values that are not part of the conversation: they do not get an item of their own. */
  readonly #aside = new WeakSet<object>();

  constructor(options: TurnOptions) {
    const { turnId, trigger, terminals, isReplay = false, emit } = options;
    this.turnId = turnId;
    this.trigger = trigger;
    this.#options = options;
    const writer = new TurnWriter(turnId, emit);
    this.#writer = writer;
    this.#messageWriter = new MessageWriter(writer);
    this.calls = new AcpCalls({ writer, terminals, isReplay });
    this.#again = new RepetitionFilter(this.calls);
    this.#plans = new AcpPlans(writer, options.plans);
    this.#messages = new SessionMessages(writer);
    this.#subagents = new Subagents(writer, options.subagents);
    this.#children = new ChildSessions({
      writer,
      known: options.subagents,
      readCall: (update, source, parentCallId) => this.toolCall(update, source, parentCallId),
    });
    this.#compactions = new Compactions(writer);
  }

  /** Whether the agent has shown nothing in the turn yet. */
  get isSilent(): boolean {
    return this.#writer.shown === this.#warnings && !this.#hasFailed;
  }

  at(timestamp: string): void {
    this.#writer.at(timestamp);
  }

  /** Begins the turn. `text` is the user's message; undefined if the agent began the turn. */
  begin(text: string | undefined, blocks: readonly ContentBlock[]): void {
    const { modelId, providerId, trigger } = this.#options;
    this.#writer.begin({ modelId, providerId, trigger }, text, blocks);
    if (text !== undefined) this.#echo = new PromptEcho(text);
  }

  plainChunk({ sessionUpdate, content, messageId }: PlainChunk): void {
    const speaker = sessionUpdate === 'agent_message_chunk' ? 'agent' : 'thought';
    if (content.text !== '') this.#endEcho();
    this.#messageWriter.appendText(speaker, content.text, { messageId: messageId ?? undefined });
  }

  chunk(speaker: Speaker, update: unknown): void {
    const { fields, rest } = readFields(update, chunk);
    if (rest !== undefined) this.keepAside(rest);
    if (speaker !== 'user') this.#endEcho();
    const content = speaker === 'user' ? this.#withoutEcho(fields.content) : fields.content;
    const of = { messageId: fields.messageId, parentCallId: parentCallOf(rest?.['_meta']) };
    this.#messageWriter.show(speaker, content, of);
  }

  toolCall(update: unknown, source: Source, parentCallId?: string): void {
    const callId = callIdOf(update) ?? '';
    const { read, spare } = this.#again.pass(callId, update, source);
    for (const [one, from] of read) this.#readCall(callId, one, from, parentCallId);
    if (isRecord(update)) this.#subagents.linked(callId, update['content']);
    for (const one of spare) this.keepAside(one);
  }

  plan(update: unknown): void {
    this.#close();
    this.#plans.read(update);
  }

  planUpdate(update: unknown): void {
    this.#close();
    this.#plans.readNamed(update);
  }

  planRemoved(update: unknown): void {
    this.#plans.remove(update);
  }

  sessionMessage(update: unknown): void {
    this.#messages.read(update);
  }

  subagent(update: unknown): void {
    this.#subagents.read(update);
  }

  /** Reads an update of a subagent's own session. */
  child(sessionId: string, update: unknown): void {
    if (updateType(update) === 'subagent_update') return this.#subagents.read(update);
    this.#children.read(sessionId, update);
  }

  notice(update: unknown): void {
    const { shown, rest } = readNotice(update);
    if (rest !== undefined) this.keepAside(rest);
    if (shown !== '') this.#writer.notice(shown);
  }

  /** Shows a warning of Liminal's own. */
  warn(title: string): void {
    this.notice({ sessionUpdate: 'notice', severity: 'warning', title });
    this.#warnings += 1;
  }

  compaction(update: unknown): void {
    this.#compactions.read(update);
  }

  usage(update: unknown): void {
    const { usage, rest } = readUsageUpdate(update);
    if (rest !== undefined) this.keepAside(rest);
    this.count(usage);
  }

  /**
   * Called when the agent reports whether the turn has failed. The agent sends the reason afterwards, as a separate
   * message.
   */
  failed(hasFailed: boolean): void {
    if (hasFailed) this.#close();
    this.#hasFailed = hasFailed;
  }

  count(usage: Usage): void {
    this.#writer.write({ type: 'usage_update', usage });
  }

  /** Keeps, with the nearest item, a value that cannot be shown. */
  keep(raw: unknown): void {
    this.#writer.keep(raw);
  }

  /**
   * Keeps a value that is not part of the conversation. The value is stored with another item, and never gets an item
   * of its own.
   */
  keepAside(raw: unknown): void {
    if (isObject(raw)) this.#aside.add(raw);
    this.keep(raw);
  }

  stop(): void {
    this.#writer.stop();
  }

  steer(messageId: string, text: string, blocks: readonly ContentBlock[]): void {
    this.#writer.steer(messageId, text, blocks);
  }

  steeredTaken(messageId: string): void {
    this.#close();
    this.#writer.settle(messageId, 'taken');
  }

  steeredLeft(messageId: string): void {
    this.#writer.takeBack(messageId, 'own_turn');
  }

  openApproval(request: ApprovalRequest): void {
    this.#writer.openApproval(request);
  }

  closeApproval(approvalId: string, outcome: ApprovalOutcome): void {
    this.#writer.closeApproval(approvalId, outcome);
  }

  /** Ends the turn by the answer to its prompt; returns the same values as `end`. */
  finish(response: unknown): unknown[] {
    const outcome = readOutcome(response);
    if (outcome.rest !== undefined) this.keepAside(outcome.rest);
    this.#close();
    return this.end(toTurnEnd(outcome, this.#hasFailed, this.#messageWriter.lastMessage));
  }

  /** Ends the turn. Returns the values given to `keepAside` that no item has taken. */
  end(end: TurnEnd): unknown[] {
    const error = end.type === 'response_error' ? end.error : undefined;
    this.#endEcho();
    if (error === undefined) this.#messageWriter.close();
    this.#children.close();
    this.#messages.close();
    for (const one of this.#again.end()) this.keepAside(one);
    this.calls.closeAll(error?.message ?? 'The turn ended before this call finished.');
    const unplaced = this.#place(error !== undefined);
    this.#writer.end(end);
    return unplaced;
  }

  #readCall(
    callId: string,
    update: unknown,
    source: Source,
    parentCallId: string | undefined,
  ): void {
    // An ended call no longer changes: keep the update unchanged.
    if (this.calls.isOver(callId) && !isAnew(update, source)) return this.keepAside(update);
    if (source === 'request' || this.calls.isStateChange(callId, update)) this.#close();
    this.calls.read(update, source, parentCallId);
  }

  /**
   * Stores the values that no item has taken: with the interrupted message if the turn has one. Without an interrupted
   * message, the values get an item of their own if at least one value belongs to the conversation. Returns the values
   * that are not stored.
   */
  #place(isBroken: boolean): unknown[] {
    const unplaced = this.#writer.takeUnplaced();
    if (isBroken && this.#messageWriter.breakOff(unplaced)) return [];
    if (unplaced.every((raw) => isObject(raw) && this.#aside.has(raw))) return unplaced;
    this.#writer.notice('The agent sent something that cannot be shown here.', { raw: unplaced });
    return [];
  }

  /** Ends the open message, because something other than text follows. */
  #close(): void {
    this.#endEcho();
    this.#messageWriter.close();
  }

  #endEcho(): void {
    this.#messageWriter.appendText('user', this.#echo.end());
  }

  /**
   * Returns the content of a user chunk without the part that repeats the user's message; undefined if nothing else is
   * left.
   */
  #withoutEcho(content: unknown): unknown {
    const { fields, rest } = readFields(content, textBlock);
    if (fields.type === undefined || fields.text === undefined) return content;
    const text = this.#echo.pass(fields.text);
    return text === '' ? undefined : { ...rest, type: fields.type, text };
  }
}

const isObject = (raw: unknown): raw is object => typeof raw === 'object' && raw !== null;

/** Returns whether an update begins an ended call again, under the same id. */
function isAnew(update: unknown, source: Source): boolean {
  const status = isRecord(update) ? update['status'] : undefined;
  return source !== 'update' && status !== 'completed' && status !== 'failed';
}

interface Outcome {
  stopReason: string | undefined;
  usage: Usage | undefined;
  /** The answer's fields besides the stop reason and the usage. */
  rest: unknown;
}

function readOutcome(response: unknown): Outcome {
  const { fields, rest } = readFields(response, promptResponse);
  const { stopReason, usage, _meta: meta } = fields;
  const hasMeta = meta !== undefined && Object.keys(meta).length > 0;
  return { stopReason, usage, rest: hasMeta ? { ...rest, _meta: meta } : rest };
}

/** Returns the turn's end. If the turn failed, the reason is `lastMessage`, the agent's last message. */
function toTurnEnd(
  { stopReason, usage: counted }: Outcome,
  hasFailed: boolean,
  lastMessage: string | undefined,
): TurnEnd {
  const usage = counted === undefined ? {} : { usage: counted };
  const finishReason = stopReason ?? null;
  if (finishReason === 'cancelled') {
    return { type: 'response_done', status: 'cancelled', finishReason, ...usage };
  }
  if (!hasFailed) return { type: 'response_done', status: 'completed', finishReason, ...usage };
  const message = readableDetail(lastMessage?.trim() ?? '') || 'The agent reported an error.';
  return { type: 'response_error', error: { code: 'AGENT_ERROR', message }, ...usage };
}

/**
 * Filters echoes. The turn already has the user's message, but an agent may repeat the message, in any number of
 * chunks. Chunks that repeat the message are held back until they differ from the message or end. An agent sends an
 * echo at most once, before any answer.
 */
class PromptEcho {
  #expected: string;
  #length = 0;

  /** `sent` is the user's message; empty in a turn that the agent began. */
  constructor(sent: string) {
    this.#expected = sent;
  }

  pass(chunk: string): string {
    if (chunk !== '' && this.#expected.startsWith(chunk, this.#length)) {
      this.#length += chunk.length;
      if (this.#length === this.#expected.length) this.#expected = '';
      return '';
    }
    return this.end() + chunk;
  }

  /** Stops filtering, and returns the held-back text: later chunks are not an echo. */
  end(): string {
    const held = this.#expected.slice(0, this.#length);
    this.#expected = '';
    this.#length = 0;
    return held;
  }
}
