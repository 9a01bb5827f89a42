import {
  type ApprovalOutcome,
  closeItem,
  closingOf,
  type EventDraft,
  type EventPayload,
  GrowingText,
  type ItemPatch,
  type OutputItem,
  textOf,
  withText,
} from '@liminal/protocol';
import { BoundedList } from './bounded-list.ts';
import type { ApprovalRequest } from './pending-approvals.ts';
import { TurnBounds } from './turn-bounds.ts';

/** An open item, and what it was told since: a delta is frequent, and copies no item. */
interface OpenItem {
  item: OutputItem;
  more: GrowingText;
}

export type Emit = (draft: EventDraft) => void;

/** Who began a turn. */
export type Trigger = 'user' | 'agent';

export interface TurnStart {
  modelId: string;
  providerId: string;
  trigger: Trigger;
}

/** The event that ends a turn. */
export type TurnEnd = Extract<EventPayload, { type: 'response_done' | 'response_error' }>;

/** Said once where a turn has said all that is kept. */
const full =
  'This turn has said more than can be kept of one. What it says from here on is not shown, but what it asks is: stop it, or wait for its end.';

/**
 * Writes one turn's events and knows which of its items are open, so that every item that starts also ends before the
 * turn's terminal event (invariant 3), of which there is one (invariant 2). The door for the size of what an agent
 * says: what is longer than an item may be is cut, and past what a turn may be only questions and ends are written.
 */
export class TurnWriter {
  readonly turnId: string;
  readonly #emit: Emit;
  readonly #open = new Map<string, OpenItem>();
  /** What the vocabulary has no place for, until the next item takes it along. */
  readonly #unplaced = new BoundedList();
  readonly #bounds = new TurnBounds();
  #timestamp = '';
  #notices = 0;
  #saidFull = false;
  #isStopping = false;
  #ended = false;

  constructor(turnId: string, emit: Emit) {
    this.turnId = turnId;
    this.#emit = emit;
  }

  /** Whether nothing more is kept of what the turn says. */
  get isFull(): boolean {
    return this.#bounds.isFull;
  }

  /** The time (ISO 8601 UTC) of what is written from now on. */
  at(timestamp: string): void {
    this.#timestamp = timestamp;
  }

  /** Whether the turn's end has been written, or is being written. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  /** `message` is what the user wrote; there is none in a turn that the agent began. */
  begin(start: TurnStart, message: string | undefined): void {
    this.write({ type: 'response_start', ...start });
    if (message === undefined) return;
    this.add({ type: 'message', id: `${this.turnId}:user`, content: message, origin: 'user' });
  }

  /** Notes that somebody asked to stop the turn, once. */
  stop(reason = 'The user asked to stop.'): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.write({ type: 'turn_aborted_by_user', reason });
  }

  /** What is said beside the agent's words. */
  notice(content: string, raw?: unknown[]): void {
    const id = `${this.turnId}:notice:${this.#notices++}`;
    const kept = raw === undefined ? {} : { raw };
    this.add({ type: 'message', id, content, origin: 'system', ...kept });
  }

  openApproval(request: ApprovalRequest): void {
    const id = this.#approvalItem(request.approvalId);
    if (!this.isOpen(id)) this.start({ ...request, type: 'approval', id });
  }

  closeApproval(approvalId: string, outcome: ApprovalOutcome): void {
    const item = this.item(this.#approvalItem(approvalId));
    if (item?.type === 'approval') this.done(item.id, { ...item, outcome });
  }

  write(said: EventPayload): void {
    if (this.#ended) return;
    const payload = this.#bounds.fit(said);
    this.#bounds.count(payload);
    this.#put(payload);
    if (this.#bounds.isFull && !this.#saidFull) this.#sayFull();
  }

  isOpen(itemId: string): boolean {
    return this.#open.has(itemId);
  }

  start(said: OutputItem): void {
    if (this.#bounds.isFull && said.type !== 'approval') return;
    const item = this.#bounds.fit(said);
    this.#open.set(item.id, { item, more: new GrowingText() });
    this.write(startPayload(item));
  }

  append(itemId: string, said: string): void {
    const open = this.#open.get(itemId);
    if (open === undefined || this.#bounds.isFull) return;
    const text = this.#bounds.more(itemId, said);
    if (text === '') return;
    open.more.add(text);
    this.write({ type: 'item_delta', itemId, deltaContent: text });
  }

  patch(itemId: string, said: ItemPatch): void {
    const open = this.#open.get(itemId);
    if (open === undefined || this.#bounds.isFull) return;
    const patch = this.#bounds.fit(said);
    open.item = { ...open.item, ...patch };
    this.#bounds.countAgain(itemId);
    this.write({ type: 'item_delta', itemId, deltaContent: '', patch });
  }

  /** Ends an item as it stands, or as `finalItem`. */
  done(itemId: string, said = this.item(itemId)): void {
    const finalItem = this.#bounds.isFull && said?.type !== 'approval' ? this.item(itemId) : said;
    if (finalItem === undefined || !this.#forget(itemId)) return;
    this.write({ type: 'item_done', itemId, finalItem: this.#withUnplaced(finalItem) });
  }

  /** An item that is whole from its beginning. */
  add(item: OutputItem): void {
    this.start(item);
    this.done(item.id);
  }

  cancel(itemId: string, reason: string): void {
    if (this.#open.has(itemId)) this.withdraw(itemId, reason);
  }

  /** Takes back an item, be it open or ended. */
  withdraw(itemId: string, reason: string): void {
    this.#forget(itemId);
    this.write({ type: 'item_cancelled', itemId, reason });
  }

  /** An open item as it stands. */
  item(itemId: string): OutputItem | undefined {
    const open = this.#open.get(itemId);
    if (open === undefined) return undefined;
    const more = open.more.take();
    if (more !== '') open.item = withText(open.item, textOf(open.item) + more);
    return open.item;
  }

  /** Keeps what cannot be translated: as `raw` of the next item that ends. */
  keep(raw: unknown): void {
    this.#unplaced.add(raw);
  }

  /** What was kept and has found no item. */
  takeUnplaced(): unknown[] {
    return this.#unplaced.take();
  }

  /** Ends what is open, and then the turn, once: what is written later is ignored. */
  end(said: TurnEnd): void {
    const end = this.#bounds.fit(said);
    const closing = closingOf(end);
    for (const itemId of this.#open.keys()) {
      const item = this.item(itemId);
      if (item !== undefined) this.#close(closeItem(item, closing));
    }
    // A listener may have ended it meanwhile.
    if (this.#ended) return;
    this.#ended = true;
    this.#put(end);
  }

  #put(payload: EventPayload): void {
    this.#emit({ turnId: this.turnId, timestamp: this.#timestamp, payload });
  }

  #sayFull(): void {
    this.#saidFull = true;
    const id = `${this.turnId}:full`;
    const item = { type: 'message', id, origin: 'system', content: full } as const;
    this.write(startPayload(item));
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

  #approvalItem(approvalId: string): string {
    return `${this.turnId}:approval:${approvalId}`;
  }

  #withUnplaced(item: OutputItem): OutputItem {
    const raw = this.takeUnplaced();
    if (raw.length === 0) return item;
    return { ...item, raw: item.raw === undefined ? raw : [item.raw, ...raw] };
  }
}

function startPayload(item: OutputItem): EventPayload {
  const { id: itemId, type: itemType, parentCallId } = item;
  const base = {
    type: 'item_start' as const,
    itemId,
    itemType,
    ...(parentCallId === undefined ? {} : { parentCallId }),
  };
  switch (item.type) {
    case 'message':
      return { ...base, origin: item.origin };
    case 'function_call': {
      const { name, callId, title, kind, locations } = item;
      // A call's arguments may be known from its beginning.
      const known = item.arguments === '' ? undefined : item.arguments;
      return { ...base, name, callId, ...defined({ arguments: known, title, kind, locations }) };
    }
    case 'function_call_output':
      return { ...base, callId: item.callId };
    case 'approval': {
      const { approvalId, title, options, description, callId, form, deadline } = item;
      const more = defined({ description, callId, form, deadline });
      return { ...base, approvalId, title, options, ...more };
    }
    case 'script_execution':
      return { ...base, code: item.code };
    case 'plan':
      return item.entries.length === 0 ? base : { ...base, entries: item.entries };
    case 'reasoning':
    case 'error':
    case 'script_execution_output':
      return base;
  }
}

/** The fields that have a value. */
const defined = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
