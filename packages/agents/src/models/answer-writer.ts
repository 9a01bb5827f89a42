import type { OutputItem } from '@liminal/protocol';
import { isoNow } from '../base/iso-clock.ts';
import type { TurnWriter } from '../base/turn-writer.ts';
import { ModelError } from './model-client.ts';

/** The most parts of one answer, shown or not. */
const maxParts = 10_000;

/**
 * Writes one answer of a model into its turn. Ids are the server's own where it gives them; one that the session has already,
 * as of servers that count anew in each answer, gets a number behind it. Knows what it has written, so that an answer that
 * broke off can be taken back and asked for again.
 */
export class AnswerWriter {
  readonly #writer: TurnWriter;
  /** The item ids of the whole session. */
  readonly #taken: Set<string>;
  readonly #now: () => string;
  readonly #written: string[] = [];
  readonly #held: Map<string, OutputItem> | undefined;
  /** The last number behind an id that was taken. */
  readonly #numbers = new Map<string, number>();
  #parts = 0;

  /**
   * @param taken - The item ids of the session so far; this writer adds its own.
   * @param held - Gets whole calls, which stay open, for who runs them: only their tool knows what they are about.
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

  /** Whether it has written anything. */
  get hasWritten(): boolean {
    return this.#written.length > 0;
  }

  /** The ids of what it has written. */
  get written(): readonly string[] {
    return this.#written;
  }

  /** Counts a part of the answer that may be no item. Throws ModelError if there are too many. */
  countPart(): void {
    this.#parts += 1;
    if (this.#parts <= maxParts) return;
    throw new ModelError('MODEL_ERROR', `The answer has more than ${maxParts} parts.`);
  }

  /**
   * Begins an item; returns its id, which is `item.id` unless that is taken. A call named like its item stays so. Throws
   * ModelError if the answer has too many.
   */
  start(item: OutputItem): string {
    this.countPart();
    const id = this.#free(item.id);
    this.#taken.add(id);
    this.#written.push(id);
    const isNamedSo = item.type === 'function_call' && item.callId === item.id;
    this.#at.start(isNamedSo ? { ...item, id, callId: id } : { ...item, id });
    return id;
  }

  append(itemId: string, text: string): void {
    if (text !== '') this.#at.append(itemId, text);
  }

  /** An open item in its present state. */
  item(itemId: string): OutputItem | undefined {
    return this.#writer.item(itemId);
  }

  /** Ends an item as it is, or with these fields changed. */
  done(itemId: string, change: Partial<OutputItem> = {}): void {
    const item = this.#writer.item(itemId);
    if (item === undefined) return;
    const whole = { ...item, ...change, id: itemId } as OutputItem;
    if (item.type === 'function_call') this.#held?.set(itemId, whole);
    if (!this.#held?.has(itemId)) this.#at.done(itemId, whole);
  }

  /** Adds an item that is whole; returns its id. */
  add(item: OutputItem): string {
    const id = this.start(item);
    this.done(id);
    return id;
  }

  /** Keeps what the vocabulary has no place for, with the next item that ends. */
  keep(raw: unknown): void {
    this.#writer.keep(raw);
  }

  /** Takes back all that it has written. */
  withdraw(reason: string): void {
    this.#parts = 0;
    for (const itemId of this.#written.splice(0)) this.#at.withdraw(itemId, reason);
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
