import {
  type ErrorObject,
  type EventDraft,
  type EventPayload,
  GrowingText,
  type ItemPatch,
  type OutputItem,
} from '@liminal/protocol';
import { BoundedList } from './bounded-list.ts';
import { TurnBounds } from './turn-bounds.ts';

/** An open item, and what it was told since: a delta is frequent, and copies no item. */
interface OpenItem {
  item: OutputItem;
  more: GrowingText;
}

export type Emit = (draft: EventDraft) => void;

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
  #saidFull = false;
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

  write(said: EventPayload): void {
    if (this.#ended) return;
    const payload = this.#bounds.fit(said);
    this.#bounds.count(payload);
    this.#emit({ turnId: this.turnId, timestamp: this.#timestamp, payload });
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
    if (finalItem === undefined || !this.#open.delete(itemId)) return;
    this.#bounds.ended(itemId);
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
    this.#open.delete(itemId);
    this.#bounds.ended(itemId);
    this.write({ type: 'item_cancelled', itemId, reason });
  }

  /** An open item as it stands. */
  item(itemId: string): OutputItem | undefined {
    const open = this.#open.get(itemId);
    if (open === undefined) return undefined;
    open.item = withText(open.item, open.more.take());
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

  /** Ends what is open, by `error` where something went wrong, and then the turn. */
  end(said: Extract<EventPayload, { type: 'response_done' | 'response_error' }>): void {
    const terminal = this.#bounds.fit(said);
    const error = terminal.type === 'response_error' ? terminal.error : undefined;
    for (const itemId of this.#open.keys()) this.#close(itemId, error);
    this.write(terminal);
    this.#ended = true;
  }

  #sayFull(): void {
    this.#saidFull = true;
    const id = `${this.turnId}:full`;
    const item = { type: 'message', id, origin: 'system', content: full } as const;
    this.write(startPayload(item));
    this.write({ type: 'item_done', itemId: id, finalItem: item });
  }

  #close(itemId: string, error: ErrorObject | undefined): void {
    const item = this.item(itemId);
    if (item === undefined) return;
    if (item.type === 'approval') {
      this.done(item.id, { ...item, outcome: { outcome: 'cancelled', reason: 'turn_ended' } });
    } else if (item.type !== 'plan' && textOf(item) === '') {
      this.cancel(item.id, 'empty');
    } else if (error === undefined || item.type === 'plan') {
      this.done(item.id);
    } else {
      this.#open.delete(item.id);
      this.write({ type: 'item_error', itemId: item.id, error });
    }
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
    case 'reasoning':
    case 'plan':
    case 'error':
    case 'script_execution_output':
      return base;
  }
}

/** The fields that have a value. */
const defined = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

function textOf(item: OutputItem): string {
  if (item.type === 'message' || item.type === 'reasoning') return item.content;
  if (item.type === 'function_call_output') return item.output;
  return item.type === 'function_call' ? item.arguments : '';
}

function withText(item: OutputItem, text: string): OutputItem {
  if (text === '') return item;
  if (item.type === 'function_call') return { ...item, arguments: item.arguments + text };
  if (item.type === 'function_call_output') return { ...item, output: item.output + text };
  if (item.type !== 'message' && item.type !== 'reasoning') return item;
  return { ...item, content: item.content + text };
}
