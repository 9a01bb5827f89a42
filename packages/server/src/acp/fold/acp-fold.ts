import type * as Acp from '@agentclientprotocol/sdk';
import {
  type ContentBlock,
  type ErrorObject,
  hasEnded,
  type OutputItem,
  type ResponseState,
  itemText,
  type Usage,
  withText,
} from '@liminal/protocol';
import { blockOf, textBlock } from './content.ts';
import { type LiminalMeta, diagnosis, metaOf } from './meta.ts';
import { noticeOf } from './notice.ts';
import { answeredCall, questionCall, questionOf } from './question-calls.ts';
import {
  type ApprovalItem,
  type CallItem,
  callWithQuestion,
  titleOf,
  updateOf,
} from './tool-calls.ts';
import { type CallsState, CallUpdates } from './call-updates.ts';

/** The optional features that a client may support. */
export interface ClientFeatures {
  notices: boolean;
  compactions: boolean;
  /** Whether the client shows output that is streamed in `_meta`, in the form that several other agents also use. */
  terminals: boolean;
}

type ItemOf<Type extends OutputItem['type']> = Extract<OutputItem, { type: Type }>;

/** A result of the fold: an update, a question to people, or the message that a question is closed. */
export type Update =
  | { kind: 'update'; update: Acp.SessionUpdate }
  /** `toolCall` is the call that the question is about. The call was sent before the question. */
  | { kind: 'question'; approval: ApprovalItem; toolCall: Acp.ToolCallUpdate }
  | { kind: 'answered'; approvalId: string };

export interface AcpFoldOptions {
  before: { response: ResponseState; calls: CallsState };
  after: ResponseState;
  features: ClientFeatures;
  isOwn: boolean;
  /** Whether the client was attached when the event happened. Clients that were not attached get no notices. */
  isLive: boolean;
  /** The text that was added to an item. Undefined if no item has grown. */
  delta?: string | undefined;
}

type ChunkKind = 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk';

const withdrawnText = '*(This answer broke off and does not count: the model is asked again.)*';
const cancelledCall: ErrorObject = {
  code: 'CANCELLED',
  message: 'The turn was cancelled before this tool answered.',
};

/** Computes the updates that lead from one state of a run to the next. */
export class AcpFold {
  readonly updates: Update[] = [];
  readonly #options: AcpFoldOptions;
  readonly #before: ResponseState;
  readonly #after: ResponseState;
  readonly #calls: CallUpdates;

  constructor(options: AcpFoldOptions) {
    this.#options = options;
    const { before, after, features } = options;
    this.#before = before.response;
    this.#after = after;
    this.#calls = new CallUpdates({
      state: before.calls,
      before: before.response,
      after,
      terminals: features.terminals,
      emit: (update) => this.#update(update),
      addedText: (item) => this.#addedText(item),
    });
  }

  get calls(): CallsState {
    return this.#calls.state;
  }

  foldItem(item: OutputItem): void {
    // If the item had already ended, the whole item has been sent.
    if (this.#before.items.byId.has(item.id) && !this.#before.open.has(item.id)) return;
    switch (item.type) {
      case 'message':
        return item.origin === 'agent' ? this.#foldText(item) : this.#foldMessage(item);
      case 'reasoning':
        return this.#foldText(item);
      case 'function_call':
      case 'script_execution':
        return this.#calls.foldCall(item, this.#parentOf(item));
      case 'function_call_output':
      case 'script_execution_output':
        return this.#calls.foldOutput(item, this.#parentOf(item));
      case 'plan':
        return this.#plan(item);
      case 'approval':
        return this.#approval(item);
      case 'error':
        return this.#isOpen(item) ? undefined : this.#notice('error', item.message, item.id);
      case 'file_changes':
        // ACP has no field for a turn's net changes. The changes of each call have been sent with that call.
        return;
    }
  }

  /** ACP cannot retract a text, so send another text that says that the first text does not count. */
  withdrawItem(id: string): void {
    const item = this.#before.open.get(id)?.item ?? this.#before.items.byId.get(id);
    switch (item?.type) {
      case 'function_call':
      case 'script_execution':
      case 'function_call_output':
      case 'script_execution_output':
        return this.#calls.withdraw(item);
      case 'approval':
        this.#emitAnswered(item);
        if (this.#callOf(item) === undefined) this.#update(answeredCall(item));
        return;
      case 'message':
        if (this.#isCompaction(item)) return this.#compaction(item, 'cancelled');
        return this.#withdrawText(item);
      case 'reasoning':
        return this.#withdrawText(item);
      case 'plan':
        return this.#update({ sessionUpdate: 'plan', entries: [] });
      case 'error':
      case 'file_changes':
      case undefined:
    }
  }

  foldUsage(): void {
    const usage = this.#after.head?.usage;
    if (usage === this.#before.head?.usage || usage === undefined) return;
    const update = usageUpdate(usage);
    const sent = this.#before.head?.usage && usageUpdate(this.#before.head.usage);
    if (update && JSON.stringify(update) !== JSON.stringify(sent)) this.#update(update);
  }

  /**
   * Computes the updates at the end of the run. The client that waits for the response to its prompt gets the turn's
   * error in that response. All other clients get the error from here.
   */
  foldEnd(): void {
    const { head } = this.#after;
    if (head === undefined || !hasEnded(this.#after)) return;
    const { status, error } = head;
    this.#calls.endAll(status === 'complete' ? undefined : (error ?? cancelledCall));
    if (error === undefined || this.#options.isOwn) return;
    this.#notice('error', error.message, `${head.id}:error`, { turnError: diagnosis(error) });
  }

  #withdrawText(item: ItemOf<'message' | 'reasoning'>): void {
    const isOpen = this.#before.open.has(item.id);
    const isAgents = item.type === 'reasoning' || item.origin === 'agent';
    // Messages of people and of Liminal are sent only when they are complete.
    if (isOpen && !isAgents) return;
    if (blocksOf(item).length === 0 && (isOpen ? this.#textBefore(item.id) : itemText(item)) === '')
      return;
    const kind = kindOf(item);
    const text = kind === 'agent_message_chunk' && isAgents ? `\n\n${withdrawnText}\n\n` : '';
    this.#chunk(kind, item.id, textBlock(text), { withdrawn: true });
  }

  #foldText(item: ItemOf<'message' | 'reasoning'>): void {
    const kind = kindOf(item);
    const [added, blocks] = [this.#addedText(item), this.#newBlocks(item)];
    const { error } = item;
    const parent = this.#parentOf(item);
    const why = error === undefined ? {} : { error: diagnosis(error) };
    if (added !== undefined && blocks !== undefined) {
      const hasChanged = added !== '' || error !== undefined;
      if (hasChanged) this.#chunk(kind, item.id, textBlock(added), { parent, ...why });
      return this.#blocks(kind, item.id, blocks, { parent });
    }
    // If a text changed in another way than by growing, the whole text is sent again, as a new message.
    const wholeId = `${item.id}:whole`;
    const about = { parent, replaces: item.id };
    this.#chunk(kind, wholeId, textBlock(itemText(item)), { ...about, ...why });
    this.#blocks(kind, wholeId, blocksOf(item), about);
  }

  /** Sends a message of a person or of Liminal when the message is complete. */
  #foldMessage(item: ItemOf<'message'>): void {
    if (this.#isCompaction(item)) return this.#compaction(item);
    if (this.#isOpen(item)) return;
    if (item.origin === 'system') {
      this.#notice('info', item.content, item.id);
      return this.#blocks('agent_message_chunk', item.id, blocksOf(item));
    }
    if (this.#options.isOwn && item.delivery === undefined) return;
    // The message will be sent again later, in a turn of its own.
    if (item.delivery === 'not_taken') return;
    if (item.content !== '') this.#chunk('user_message_chunk', item.id, textBlock(item.content));
    this.#blocks('user_message_chunk', item.id, blocksOf(item));
  }

  /** Returns the blocks after those that were already sent; undefined if one of the sent blocks has changed. */
  #newBlocks(item: ItemOf<'message' | 'reasoning'>): readonly ContentBlock[] | undefined {
    const before = this.#before.open.get(item.id)?.item;
    const sent = before?.type === 'message' ? blocksOf(before) : [];
    const blocks = blocksOf(item);
    return isSame(blocks.slice(0, sent.length), sent) ? blocks.slice(sent.length) : undefined;
  }

  #blocks(kind: ChunkKind, id: string, blocks: readonly ContentBlock[], about?: LiminalMeta): void {
    for (const block of blocks) this.#chunk(kind, id, blockOf(block), about);
  }

  /** ACP replaces the whole plan with each update, so an unchanged plan is not sent again. */
  #plan({ id, entries }: ItemOf<'plan'>): void {
    const before = this.#before.open.get(id)?.item;
    const sent = before?.type === 'plan' ? before.entries : [];
    if (!isSame(sent, entries)) this.#update({ sessionUpdate: 'plan', entries });
  }

  #isCompaction({ compaction, origin }: ItemOf<'message'>): boolean {
    return compaction !== undefined && origin === 'system' && this.#options.features.compactions;
  }

  #compaction(item: ItemOf<'message'>, status = this.#compactionStatus(item)): void {
    const { id: compactionId, content } = item;
    const update = { sessionUpdate: 'compaction_update', compactionId, status } as const;
    const isNew = !this.#before.items.byId.has(item.id);
    if (status === 'in_progress') return isNew ? this.#update(update) : undefined;
    if (status === 'failed') {
      return this.#update({ ...update, error: content || (item.error?.message ?? '') });
    }
    this.#update({ ...update, ...(content !== '' && { summary: [textBlock(content)] }) });
  }

  #compactionStatus(item: ItemOf<'message'>) {
    if (this.#isOpen(item)) return 'in_progress';
    if (item.error !== undefined) return 'failed';
    return item.compaction === 'in_progress' ? 'cancelled' : (item.compaction ?? 'completed');
  }

  /**
   * In ACP, questions can only be asked about calls. A question without a call is therefore sent together with a call
   * that is made for the question.
   */
  #approval(item: ApprovalItem): void {
    const call = this.#callOf(item);
    const isNew = !this.#before.items.byId.has(item.id);
    if (isNew && call === undefined) this.#update(questionCall(item));
    if (!this.#isOpen(item)) {
      if (!isNew) this.#emitAnswered(item);
      if (call === undefined) this.#update(answeredCall(item));
      else if (!isNew && titleOf(call) !== item.title) {
        this.#update({ ...updateOf(call.id), title: titleOf(call) });
      }
    } else if (isNew) {
      const toolCall =
        call === undefined
          ? questionOf(item)
          : callWithQuestion(call, item, { isTerminal: this.#calls.isTerminal(call) });
      this.#emit({ kind: 'question', approval: item, toolCall });
    }
  }

  /** Returns the call that the question is about, if the call was sent before the question. */
  #callOf({ id, callId }: ApprovalItem): CallItem | undefined {
    const toolCallId = callId === undefined ? undefined : this.#calls.idOf(callId);
    if (toolCallId === undefined) return undefined;
    const { byId } = this.#after.items;
    const isEarlier = (byId.placeOf(toolCallId) ?? Infinity) < (byId.placeOf(id) ?? Infinity);
    const open = this.#after.open.get(toolCallId);
    const item = open ? withText(open.item, open.text) : byId.get(toolCallId);
    return isEarlier && item?.type === 'function_call' ? item : undefined;
  }

  #emitAnswered({ approvalId }: ApprovalItem): void {
    this.#emit({ kind: 'answered', approvalId });
  }

  /**
   * Sends a notice if the client supports notices and was attached when the event happened; otherwise sends a message.
   */
  #notice(severity: 'info' | 'error', text: string, id: string, about?: LiminalMeta): void {
    if (text.trim() === '') return;
    if (!this.#options.features.notices || !this.#options.isLive) {
      const meta = { ...about, notice: severity };
      return this.#chunk('agent_message_chunk', id, textBlock(text), meta);
    }
    this.#update({ ...noticeOf(severity, text), ...metaOf(about ?? {}) });
  }

  /** Returns the id that the client uses for the subagent call to which an item belongs. */
  #parentOf({ parentCallId }: OutputItem): string | undefined {
    if (parentCallId === undefined) return undefined;
    return this.#calls.idOf(parentCallId) ?? parentCallId;
  }

  #isOpen(item: OutputItem): boolean {
    return this.#after.open.has(item.id);
  }

  #textBefore(id: string): string {
    return this.#before.open.get(id)?.text ?? '';
  }

  /**
   * Returns the text that was added to an item; undefined if the text has changed in another way. Uses the event's
   * delta, so that a long text is not copied for each small addition.
   */
  #addedText(item: OutputItem): string | undefined {
    const { delta } = this.#options;
    if (delta !== undefined) return delta;
    const sent = this.#textBefore(item.id);
    const text = itemText(item);
    return text.startsWith(sent) ? text.slice(sent.length) : undefined;
  }

  #chunk(
    kind: ChunkKind,
    messageId: string,
    content: Acp.ContentBlock,
    about: LiminalMeta = {},
  ): void {
    this.#update({ sessionUpdate: kind, messageId, content, ...metaOf(about) });
  }

  #update(update: Acp.SessionUpdate): void {
    this.#emit({ kind: 'update', update });
  }

  #emit(update: Update): void {
    this.updates.push(update);
  }
}

function kindOf(item: ItemOf<'message' | 'reasoning'>): ChunkKind {
  if (item.type === 'reasoning') return 'agent_thought_chunk';
  return item.origin === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
}

const blocksOf = (item: ItemOf<'message' | 'reasoning'>): readonly ContentBlock[] =>
  item.type === 'message' ? (item.blocks ?? []) : [];

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/**
 * Returns undefined unless both the context's size and the number of used tokens are known: clients show the used
 * share.
 */
function usageUpdate({
  contextTokens: used,
  contextWindow: size,
  costUsd,
}: Usage): Acp.SessionUpdate | undefined {
  if (used === undefined || size === undefined) return undefined;
  const cost = costUsd === undefined ? {} : { cost: { amount: costUsd, currency: 'USD' } };
  return {
    sessionUpdate: 'usage_update',
    used: Math.round(used),
    size: Math.round(size),
    ...cost,
  };
}
