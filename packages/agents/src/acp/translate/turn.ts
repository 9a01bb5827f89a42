import { z } from 'zod';
import type { ApprovalOutcome, Usage } from '@liminal/protocol';
import type { ApprovalRequest } from '../../base/pending-approvals.ts';
import { TurnWriter, type Emit } from '../../base/turn-writer.ts';
import { AnnouncedAgain } from './announced-again.ts';
import { Calls } from './calls.ts';
import { Compactions } from './compaction.ts';
import { PromptEcho } from './prompt-echo.ts';
import { isRecord, readFields } from './fields.ts';
import { readNotice } from './notices.ts';
import { readOutcome, terminalOf, type Terminal } from './outcome.ts';
import { parentCallOf } from './parent-call.ts';
import type { PlainChunk } from './plain-chunk.ts';
import { Plan } from './plan.ts';
import type { AcpQuirks } from './quirks.ts';
import { Speech, type Voice } from './speech.ts';
import type { Terminals } from './terminals.ts';
import { callIdOf, type Source } from './tool-call.ts';
import { readUsageUpdate } from './usage.ts';

export type Trigger = 'user' | 'agent';

export interface TurnOptions {
  turnId: string;
  trigger: Trigger;
  modelId: string;
  providerId: string;
  quirks: AcpQuirks;
  terminals: Terminals;
  isReplay?: boolean;
  emit: Emit;
}

const chunk = { sessionUpdate: z.string(), content: z.unknown(), messageId: z.string() };

const textBlock = { type: z.literal('text'), text: z.string() };

/** One turn's translation: an ACP agent's updates in, canonical events out. */
export class Turn {
  readonly turnId: string;
  readonly trigger: Trigger;
  readonly calls: Calls;
  readonly #options: TurnOptions;
  readonly #writer: TurnWriter;
  readonly #speech: Speech;
  readonly #again: AnnouncedAgain;
  readonly #plan: Plan;
  readonly #compactions: Compactions;
  #echo = new PromptEcho('');
  /** Of what is kept, what beside the conversation was told: no item is made for it. */
  readonly #aside = new WeakSet<object>();
  #notices = 0;
  #isStopping = false;

  constructor(options: TurnOptions) {
    const { turnId, trigger, quirks, terminals, isReplay = false, emit } = options;
    this.turnId = turnId;
    this.trigger = trigger;
    this.#options = options;
    const writer = new TurnWriter(turnId, emit);
    this.#writer = writer;
    this.#speech = new Speech(writer);
    this.calls = new Calls({ writer, terminals, quirks, isReplay });
    this.#again = new AnnouncedAgain(this.calls);
    this.#plan = new Plan(writer);
    this.#compactions = new Compactions(writer);
  }

  at(timestamp: string): void {
    this.#writer.at(timestamp);
  }

  /** `text` is what the user wrote; there is none in a turn that the agent began. */
  begin(text: string | undefined): void {
    const { modelId, providerId, trigger } = this.#options;
    this.#writer.write({ type: 'response_start', modelId, providerId, trigger });
    if (text === undefined) return;
    this.#echo = new PromptEcho(text);
    const id = `${this.turnId}:user`;
    this.#writer.add({ type: 'message', id, content: text, origin: 'user' });
  }

  plainChunk({ sessionUpdate, content, messageId }: PlainChunk): void {
    const voice = sessionUpdate === 'agent_message_chunk' ? 'agent' : 'thought';
    if (content.text !== '') this.#endEcho();
    this.#speech.say(voice, content.text, { messageId: messageId ?? undefined });
  }

  chunk(voice: Voice, update: unknown): void {
    const { fields, rest } = readFields(update, chunk);
    if (rest !== undefined) this.keepAside(rest);
    if (voice !== 'user') this.#endEcho();
    const content = voice === 'user' ? this.#withoutEcho(fields.content) : fields.content;
    const of = { messageId: fields.messageId, parentCallId: parentCallOf(rest?.['_meta']) };
    if (content !== undefined) this.#speech.show(voice, content, of);
  }

  toolCall(update: unknown, source: Source): void {
    const callId = callIdOf(update) ?? '';
    const { read, spare } = this.#again.pass(callId, update, source);
    for (const [one, from] of read) this.#readCall(callId, one, from);
    for (const one of spare) this.keepAside(one);
  }

  plan(update: unknown): void {
    this.#close();
    this.#plan.read(update);
  }

  notice(update: unknown): void {
    const { tell, rest } = readNotice(update);
    if (rest !== undefined) this.keepAside(rest);
    if (tell !== '') this.#tell(tell);
  }

  compaction(update: unknown): void {
    this.#compactions.read(update);
  }

  usage(update: unknown): void {
    const { usage, rest } = readUsageUpdate(update);
    if (this.#options.quirks.usageEndsMessage === true) this.#speech.close();
    if (rest !== undefined) this.keepAside(rest);
    this.count(usage);
  }

  count(usage: Usage): void {
    this.#writer.write({ type: 'usage_update', usage });
  }

  /** What there is no place for stays with the nearest item. */
  keep(raw: unknown): void {
    this.#writer.keep(raw);
  }

  /** The same, but for what is not said in the conversation: it makes no item appear. */
  keepAside(raw: unknown): void {
    if (isObject(raw)) this.#aside.add(raw);
    this.keep(raw);
  }

  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#writer.write({ type: 'turn_aborted_by_user', reason: 'The user asked to stop.' });
  }

  openApproval(request: ApprovalRequest): void {
    const id = this.#approvalItem(request.approvalId);
    if (!this.#writer.isOpen(id)) this.#writer.start({ ...request, type: 'approval', id });
  }

  closeApproval(approvalId: string, outcome: ApprovalOutcome): void {
    const item = this.#writer.item(this.#approvalItem(approvalId));
    if (item?.type === 'approval') this.#writer.done(item.id, { ...item, outcome });
  }

  /** The answer to the prompt; gives what `end` does. */
  finish(response: unknown): unknown[] {
    const outcome = readOutcome(response, this.#options.quirks);
    if (outcome.rest !== undefined) this.keepAside(outcome.rest);
    this.#close();
    return this.end(terminalOf(outcome, this.#speech.lastMessage));
  }

  /** Gives what was kept aside and has found no item. */
  end(terminal: Terminal): unknown[] {
    const hasCompleted = terminal.type === 'response_done' && terminal.status === 'completed';
    const error = terminal.type === 'response_error' ? terminal.error : undefined;
    this.#endEcho();
    if (error === undefined) this.#speech.close();
    for (const one of this.#again.end()) this.keepAside(one);
    this.calls.closeAll(error?.message ?? 'The turn ended first.', hasCompleted);
    const unplaced = this.#place(error !== undefined);
    this.#writer.end(terminal);
    return unplaced;
  }

  #readCall(callId: string, update: unknown, source: Source): void {
    // What has ended stays as it was.
    if (this.calls.isOver(callId) && !isAnew(update, source)) return this.keepAside(update);
    if (source === 'request' || this.calls.isNews(callId, update)) this.#close();
    this.calls.read(update, source);
  }

  /** What has found no item stays with the text that breaks off, or gets an item if it was said. */
  #place(isBroken: boolean): unknown[] {
    const unplaced = this.#writer.takeUnplaced();
    if (isBroken && this.#speech.breakOff(unplaced)) return [];
    if (unplaced.every((raw) => isObject(raw) && this.#aside.has(raw))) return unplaced;
    this.#tell('The agent sent something that cannot be shown here.', unplaced);
    return [];
  }

  #tell(content: string, raw?: unknown[]): void {
    const id = `${this.turnId}:notice:${++this.#notices}`;
    const kept = raw === undefined ? {} : { raw };
    this.#writer.add({ type: 'message', id, content, origin: 'system', ...kept });
  }

  /** Something else happens than talk. */
  #close(): void {
    this.#endEcho();
    this.#speech.close();
  }

  #endEcho(): void {
    const held = this.#echo.end();
    if (held !== '') this.#speech.say('user', held);
  }

  /** What an agent says in the user's name, without the user's own message. */
  #withoutEcho(content: unknown): unknown {
    const { fields, rest } = readFields(content, textBlock);
    if (fields.type === undefined || fields.text === undefined) return content;
    const text = this.#echo.pass(fields.text);
    return text === '' ? undefined : { ...rest, type: fields.type, text };
  }

  #approvalItem(approvalId: string): string {
    return `${this.turnId}:approval:${approvalId}`;
  }
}

const isObject = (raw: unknown): raw is object => typeof raw === 'object' && raw !== null;

/** Whether a call that has ended begins once more, under the same id. */
function isAnew(update: unknown, source: Source): boolean {
  const status = isRecord(update) ? update['status'] : undefined;
  return source !== 'update' && status !== 'completed' && status !== 'failed';
}
