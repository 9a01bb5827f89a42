import type { OutputItem } from '@liminal/protocol';
import { isoNow } from '../../base/iso-clock.ts';
import type { TurnWriter } from '../../base/turn-writer.ts';
import { ModelError } from './model-error.ts';
import { InlineThinking, type TextPiece } from './inline-thinking.ts';

/** The most parts of one answer, including parts that are not shown. */
const maxParts = 10_000;

/** The first message of an answer. This message may begin with thinking. */
interface FirstText {
  begun: Extract<OutputItem, { type: 'message' }>;
  thinking: InlineThinking;
  /** The item to which the message's text is written now. */
  open: { kind: 'words' | 'thinking'; itemId: string } | undefined;
  /** Whether a part of the text was later converted to thinking. */
  wasMoved: boolean;
}

/** Returns a complete text without the thinking that the text contains. */
function withoutThinking(content: string): string {
  const thinking = new InlineThinking();
  let words = '';
  for (const piece of [...thinking.read(content), ...thinking.end()]) {
    if (piece.kind === 'all thinking') words = '';
    else if (piece.kind === 'words') words += piece.text;
  }
  return words;
}

/**
 * Writes one answer of a model into its turn. An item has the id that the server sent, if the server sends ids. Some
 * servers number the items of each answer from the start again: if the session already has an item with the id, a
 * number is appended to the id. The writer remembers its items, so that a broken answer can be withdrawn and requested
 * again.
 */
export class AnswerWriter {
  readonly #writer: TurnWriter;
  /** The ids of all items of the session. */
  readonly #taken: Set<string>;
  readonly #now: () => string;
  readonly #written: string[] = [];
  readonly #held: Map<string, OutputItem> | undefined;
  /** For each id that was in use, the last number that was appended to the id. */
  readonly #numbers = new Map<string, number>();
  #parts = 0;
  /** The first message of the answer, while it is open. */
  #text: FirstText | undefined;

  /**
   * @param taken - The item ids that the session already has; the writer adds its own.
   * @param held - Gets each complete call. The call's item stays open until the caller has run the call, because only
   * the tool knows the call's title.
   */
  constructor(
    writer: TurnWriter,
    taken: Set<string>,
    now: () => string = isoNow,
    held?: Map<string, OutputItem>,
  ) {
    this.#writer = writer;
    this.#taken = taken;
    this.#now = now;
    this.#held = held;
  }

  /** Whether the writer has written anything. */
  get hasWritten(): boolean {
    return this.#written.length > 0;
  }

  /** The ids of the written items. */
  get written(): readonly string[] {
    return this.#written;
  }

  /**
   * Counts a part of the answer. The part need not become an item. Throws ModelError if the answer has too many parts.
   */
  countPart(): void {
    this.#parts += 1;
    if (this.#parts <= maxParts) return;
    throw new ModelError('MODEL_ERROR', `The answer has more than ${maxParts} parts.`);
  }

  /**
   * Begins an item, and returns its id: `item.id`, unless the session already has that id. If a call's own id equals
   * its item id, both get the same new id. Throws ModelError if the answer has too many parts.
   */
  start(item: OutputItem): string {
    this.countPart();
    const isFirst = this.#written.length === 0 && this.#text === undefined;
    this.flush();
    const id = this.#free(item.id);
    this.#taken.add(id);
    const isNamedSo = item.type === 'function_call' && item.callId === item.id;
    const begun = isNamedSo ? { ...item, id, callId: id } : { ...item, id };
    if (item.type === 'function_call_output') this.#release(item.callId);
    if (isFirst && begun.type === 'message' && begun.origin === 'agent') {
      this.#text = { begun, thinking: new InlineThinking(), open: undefined, wasMoved: false };
    } else this.#begin(begun);
    return id;
  }

  append(itemId: string, text: string): void {
    if (text === '') return;
    if (this.#text?.begun.id === itemId) this.#write(this.#text.thinking.read(text));
    else this.#at.append(itemId, text);
  }

  /** Returns the current state of an open item. */
  item(itemId: string): OutputItem | undefined {
    return this.#writer.item(itemId);
  }

  /** Ends an item, with these fields changed. */
  done(itemId: string, change: Partial<OutputItem> = {}): void {
    if (this.#text?.begun.id === itemId) return this.#doneText(this.#text, change);
    const item = this.#writer.item(itemId);
    if (item === undefined) return;
    const finalItem = { ...item, ...change, id: itemId } as OutputItem;
    if (item.type === 'function_call') this.#held?.set(itemId, finalItem);
    if (!this.#held?.has(itemId)) this.#at.done(itemId, finalItem);
  }

  /** Adds a whole item; returns its id. */
  add(item: OutputItem): string {
    const id = this.start(item);
    this.done(id);
    return id;
  }

  /** Stores raw data for which the protocol has no item. The data becomes part of the next item that ends. */
  keep(raw: unknown): void {
    this.#writer.keep(raw);
  }

  /** Writes the text that was held back because the text could be the start of a tag. */
  flush(): void {
    if (this.#text !== undefined) this.#write(this.#text.thinking.end());
  }

  /** Withdraws everything that the writer has written. */
  withdraw(reason: string): void {
    this.#parts = 0;
    this.#text = undefined;
    for (const itemId of this.#written.splice(0)) this.#at.withdraw(itemId, reason);
  }

  /**
   * Ends a held call when its output arrives, because an output means that the model's server has run the call itself.
   */
  #release(callId: string): void {
    for (const [id, item] of this.#held ?? []) {
      if (item.type !== 'function_call' || item.callId !== callId) continue;
      this.#held?.delete(id);
      this.#at.done(id, item);
    }
  }

  #begin(item: OutputItem): void {
    this.#written.push(item.id);
    this.#at.start(item);
  }

  /** Writes pieces of the first message, each piece as text or as thinking. */
  #write(pieces: readonly TextPiece[]): void {
    const text = this.#text;
    if (text === undefined) return;
    for (const piece of pieces) {
      if (piece.kind === 'all thinking') this.#moveToThinking(text);
      else this.#at.append(this.#openFor(text, piece.kind), piece.text);
    }
  }

  /** Returns the open item for this kind of text; ends an open item of the other kind first. */
  #openFor(text: FirstText, kind: 'words' | 'thinking'): string {
    if (text.open?.kind === kind) return text.open.itemId;
    if (text.open !== undefined) this.#at.done(text.open.itemId);
    const { id } = text.begun;
    const item: OutputItem =
      kind === 'words'
        ? { ...text.begun, id: this.#nextId(text.wasMoved ? `${id}:2` : id) }
        : { type: 'reasoning', id: this.#nextId(`${id}:thinking`), content: '', origin: 'agent' };
    text.open = { kind, itemId: item.id };
    this.#begin(item);
    return item.id;
  }

  /** Converts the text so far to thinking, because the model's chat template had already written the opening tag. */
  #moveToThinking(text: FirstText): void {
    const message = text.open && this.#writer.item(text.open.itemId);
    if (text.open === undefined || message?.type !== 'message') return;
    const { itemId } = text.open;
    this.#written.splice(this.#written.indexOf(itemId), 1);
    this.#at.withdraw(itemId, 'thinking');
    text.open = undefined;
    const thought = this.#openFor(text, 'thinking');
    this.#at.append(thought, message.content);
    // The id of a withdrawn item is never used again.
    text.wasMoved = true;
  }

  #doneText(text: FirstText, change: Partial<OutputItem>): void {
    this.#write(text.thinking.end());
    this.#text = undefined;
    // An empty answer is shown as an empty message; an answer with only thinking gets no message.
    const { kind, itemId } = text.open ?? { kind: 'words', itemId: this.#openFor(text, 'words') };
    if (kind === 'thinking') return this.#at.done(itemId);
    const item = this.#writer.item(itemId);
    if (item === undefined) return;
    const { content, ...rest } = change as { content?: string };
    const words = content === undefined ? {} : { content: withoutThinking(content) };
    this.#at.done(itemId, { ...item, ...rest, ...words, id: itemId });
  }

  #nextId(wanted: string): string {
    const id = this.#written.includes(wanted) ? this.#free(wanted) : wanted;
    this.#taken.add(id);
    return id;
  }

  get #at(): TurnWriter {
    this.#writer.at(this.#now());
    return this.#writer;
  }

  #free(wanted: string): string {
    if (!this.#taken.has(wanted)) return wanted;
    let count = (this.#numbers.get(wanted) ?? 1) + 1;
    while (this.#taken.has(`${wanted}:${count}`)) count += 1;
    this.#numbers.set(wanted, count);
    return `${wanted}:${count}`;
  }
}
