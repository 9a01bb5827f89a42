import {
  type ApprovalOutcome,
  type AskedCall,
  askedKeys,
  closeItem,
  closingOf,
  type Compaction,
  type ContentBlock,
  type EventDraft,
  type EventPayload,
  type Delivery,
  GrowingText,
  type ItemPatch,
  maxItemSize,
  callDifferences,
  withinSize,
  type OutputItem,
  itemStart,
  pickDefined,
  steeredItemId,
  itemText,
  withText,
} from '@liminal/protocol';
import { BoundedList } from './bounded-list.ts';
import { type ApprovalRequest, maxAsked } from './pending-approvals.ts';
import { TurnBounds } from './turn-bounds.ts';

/**
 * An open item, and the text that deltas have appended to the item. The text is stored separately, so that a delta does
 * not copy the item.
 */
interface OpenItem {
  item: OutputItem;
  more: GrowingText;
}

type CallItem = Extract<OutputItem, { type: 'function_call' }>;

const maxEarlier = maxItemSize / 4;

export type Emit = (draft: EventDraft) => void;

/** Who or what began a turn. */
export type Trigger = 'user' | 'agent';

export interface TurnStart {
  modelId: string;
  providerId: string;
  trigger: Trigger;
}

/** The event that ends a turn. */
export type TurnEnd = Extract<EventPayload, { type: 'response_done' | 'response_error' }>;

/** Shown once when a turn reaches its limit. */
const full =
  'This turn’s output limit is reached. Further output is not shown, only questions. Stop the turn, or wait until it ends.';

const fullMark = (turnId: string): string => `${turnId}:full`;

/** Returns whether the item is the notice that the turn has reached its limit. */
export const isFullMark = (item: OutputItem, turnId: string): boolean =>
  item.id === fullMark(turnId);

/**
 * Writes one turn's events and tracks its open items, so that every started item ends before the turn's one terminal
 * event (invariants 2 and 3). Bounds an agent's output: items that are too long are cut, and once a turn has reached
 * its limit, only questions and the ends of items and of the turn are written.
 */
export class TurnWriter {
  readonly turnId: string;
  readonly #emit: Emit;
  readonly #open = new Map<string, OpenItem>();
  /** Values that cannot be translated, kept until the next item ends. */
  readonly #unplaced = new BoundedList();
  readonly #bounds = new TurnBounds();
  /** Calls without a result, by `callId`; `item` is set when the call's item has ended. */
  readonly #calls = new Map<string, { itemId: string; item?: CallItem }>();
  #timestamp = '';
  #shown = 0;
  #notices = 0;
  #hasReportedFull = false;
  #isStopping = false;
  #ended = false;

  constructor(turnId: string, emit: Emit) {
    this.turnId = turnId;
    this.#emit = emit;
  }

  /** Whether the turn has reached its limit. */
  get isFull(): boolean {
    return this.#bounds.isFull;
  }

  /** The number of the turn's items besides the user's messages. */
  get shown(): number {
    return this.#shown;
  }

  /** The time (ISO 8601 UTC) of the next event. */
  get time(): string {
    return this.#timestamp;
  }

  /** Sets the time (ISO 8601 UTC) of later events. */
  at(timestamp: string): void {
    this.#timestamp = timestamp;
  }

  /** Whether the turn's end has been written, or is being written. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Begins the turn. @param message - The user's message; undefined if the agent began the turn. */
  begin(start: TurnStart, message: string | undefined, blocks: readonly ContentBlock[] = []): void {
    this.write({ type: 'response_start', ...start });
    if (message === undefined) return;
    const id = `${this.turnId}:user`;
    const item = { type: 'message', id, content: message, origin: 'user' } as const;
    if (blocks.length === 0) return this.add(item);
    this.write(itemStart(item));
    // The blocks are not cut: the server bounded a person's files on receipt.
    this.#put({ type: 'item_done', itemId: id, finalItem: { ...item, blocks: [...blocks] } });
  }

  /** Adds a message that a person sends during the turn; its item is open until `settle` or the turn's end. */
  steer(messageId: string, content: string, blocks: readonly ContentBlock[] = []): void {
    const id = steeredItemId(this.turnId, messageId);
    if (this.#ended || this.#open.has(id)) return;
    const message = { type: 'message', id, content, origin: 'user', delivery: 'sent' } as const;
    const item: OutputItem = blocks.length === 0 ? message : { ...message, blocks: [...blocks] };
    this.#open.set(id, { item, more: new GrowingText() });
    // The message is not cut, like the message that began the turn: the server bounded both on receipt.
    this.#put({ ...itemStart(item), initialContent: content });
    if (blocks.length === 0) return;
    this.#put({ type: 'item_delta', itemId: id, deltaContent: '', patch: { blocks: [...blocks] } });
  }

  /** Ends the item of a `steer` message, and records in it what the agent did with the message. */
  settle(messageId: string, delivery: Exclude<Delivery, 'sent'>): void {
    const item = this.item(steeredItemId(this.turnId, messageId));
    if (item?.type !== 'message' || !this.#forget(item.id)) return;
    this.#put({ type: 'item_done', itemId: item.id, finalItem: { ...item, delivery } });
  }

  /** Withdraws a `steer` message that the agent rejects (`refused`), or reads only after the turn (`own_turn`). */
  takeBack(messageId: string, reason: 'refused' | 'own_turn'): void {
    const itemId = steeredItemId(this.turnId, messageId);
    if (this.#forget(itemId)) this.#put({ type: 'item_cancelled', itemId, reason });
  }

  /** Records once that a user asked to stop the turn. */
  stop(reason = 'The user asked to stop.'): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.write({ type: 'turn_aborted_by_user', reason });
  }

  /** Adds a system message. @param about - Details for programs. */
  notice(content: string, about: { raw?: unknown; compaction?: Compaction } = {}): void {
    const id = `${this.turnId}:notice:${this.#notices++}`;
    this.add({ type: 'message', id, content, origin: 'system', ...defined(about) });
  }

  /**
   * Shows a permission request. If the request does not describe its call, the description comes from the call's own
   * item.
   */
  openApproval({ asked: own, earlier: known, ...request }: ApprovalRequest): void {
    const id = this.#approvalItem(request.approvalId);
    if (this.isOpen(id)) return;
    const call = this.#call(request.callId);
    const asked = own ?? (call && askedCallOf(call));
    const earlier = known ?? (own && call && callDifferences(own, askedCallOf(call)));
    this.start({
      type: 'approval',
      id,
      ...request,
      ...(asked && { asked: withinSize(asked, maxAsked) }),
      ...(earlier && { earlier: withinSize(earlier, maxEarlier) }),
    });
  }

  closeApproval(approvalId: string, outcome: ApprovalOutcome): void {
    const item = this.item(this.#approvalItem(approvalId));
    if (item?.type === 'approval') this.done(item.id, { ...item, outcome });
  }

  write(given: EventPayload): void {
    if (this.#ended) return;
    const payload = this.#bounds.fit(given);
    this.#bounds.count(payload);
    this.#put(payload);
    if (this.#bounds.isFull && !this.#hasReportedFull) this.#reportFull();
  }

  /** The ids of the open items, in starting order. */
  get open(): string[] {
    return [...this.#open.keys()];
  }

  isOpen(itemId: string): boolean {
    return this.#open.has(itemId);
  }

  start(given: OutputItem): void {
    if (this.#bounds.isFull && given.type !== 'approval') return;
    const item = this.#bounds.fit(given);
    if (item.type !== 'message' || item.origin !== 'user') this.#shown += 1;
    this.#open.set(item.id, { item, more: new GrowingText() });
    if (item.type === 'function_call') this.#calls.set(item.callId, { itemId: item.id });
    this.write(itemStart(item));
  }

  append(itemId: string, given: string): void {
    const open = this.#open.get(itemId);
    if (this.#ended || open === undefined || this.#bounds.isFull) return;
    const text = this.#bounds.more(itemId, given);
    if (text === '') return;
    open.more.add(text);
    this.#put({ type: 'item_delta', itemId, deltaContent: text });
    if (this.#bounds.isFull && !this.#hasReportedFull) this.#reportFull();
  }

  patch(itemId: string, given: ItemPatch): void {
    const open = this.#open.get(itemId);
    if (open === undefined || this.#bounds.isFull) return;
    const patch = this.#bounds.fit(given);
    if (patch.arguments !== undefined) {
      open.more.take();
      this.#bounds.replaced(itemId, patch.arguments);
    }
    open.item = { ...open.item, ...patch };
    this.#bounds.countAgain(itemId);
    this.write({ type: 'item_delta', itemId, deltaContent: '', patch });
  }

  /** Ends an item in its present state, or as `given`. */
  done(itemId: string, given = this.item(itemId)): void {
    const isPersons = given?.type === 'approval' || (given?.type === 'message' && given.delivery);
    const finalItem = this.#bounds.isFull && !isPersons ? this.item(itemId) : given;
    if (finalItem === undefined || !this.#forget(itemId)) return;
    if (finalItem.type === 'function_call') {
      this.#calls.set(finalItem.callId, { itemId, item: finalItem });
    }
    if (finalItem.type === 'function_call_output') this.#calls.delete(finalItem.callId);
    this.write({ type: 'item_done', itemId, finalItem: this.#withUnplaced(finalItem) });
  }

  /** Adds a complete item. */
  add(item: OutputItem): void {
    this.start(item);
    this.done(item.id);
  }

  cancel(itemId: string, reason: string): void {
    if (this.#open.has(itemId)) this.withdraw(itemId, reason);
  }

  /** Withdraws an item, open or ended. */
  withdraw(itemId: string, reason: string): void {
    this.#forget(itemId);
    this.write({ type: 'item_cancelled', itemId, reason });
  }

  /** Returns an open item in its present state. */
  item(itemId: string): OutputItem | undefined {
    const open = this.#open.get(itemId);
    if (open === undefined) return undefined;
    const more = open.more.take();
    if (more !== '') open.item = withText(open.item, itemText(open.item) + more);
    return open.item;
  }

  /** Keeps a value that cannot be translated. The value becomes `raw` of the next item that ends. */
  keep(raw: unknown): void {
    this.#unplaced.add(raw);
  }

  /** Returns and removes the kept values that no item contains. */
  takeUnplaced(): unknown[] {
    return this.#unplaced.take();
  }

  /** Ends the open items, then the turn. Only the first call has an effect, and later events are ignored. */
  end(given: TurnEnd): void {
    const end = this.#bounds.fit(given);
    const closing = closingOf(end);
    for (const itemId of this.#open.keys()) {
      const item = this.item(itemId);
      if (item !== undefined) this.#close(closeItem(item, closing));
    }
    // A listener may have ended the turn in the loop above.
    if (this.#ended) return;
    this.#ended = true;
    this.#put(end);
  }

  #put(payload: EventPayload): void {
    this.#emit({ turnId: this.turnId, timestamp: this.#timestamp, payload });
  }

  #reportFull(): void {
    this.#hasReportedFull = true;
    const id = fullMark(this.turnId);
    const item = { type: 'message', id, origin: 'system', content: full } as const;
    this.write(itemStart(item));
    this.write({ type: 'item_done', itemId: id, finalItem: item });
  }

  #close(end: EventPayload): void {
    if (end.type === 'item_done') return this.done(end.itemId, end.finalItem);
    if (end.type === 'item_error' || end.type === 'item_cancelled') this.#forget(end.itemId);
    this.write(end);
  }

  #forget(itemId: string): boolean {
    this.#bounds.ended(itemId);
    return this.#open.delete(itemId);
  }

  /** Returns a call without a result, in its present state. */
  #call(callId: string | undefined): CallItem | undefined {
    const call = callId === undefined ? undefined : this.#calls.get(callId);
    const item = call && (call.item ?? this.item(call.itemId));
    return item?.type === 'function_call' ? item : undefined;
  }

  #approvalItem(approvalId: string): string {
    return `${this.turnId}:approval:${approvalId}`;
  }

  #withUnplaced(item: OutputItem): OutputItem {
    const raw = this.takeUnplaced();
    if (raw.length === 0) return item;
    return { ...item, raw: item.raw === undefined ? raw : [item.raw, ...raw] };
  }
}

const askedCallOf = (call: CallItem): AskedCall => ({
  name: call.name,
  arguments: call.arguments,
  ...pickDefined(call, askedKeys),
});

/** The fields that have a value. */
const defined = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
