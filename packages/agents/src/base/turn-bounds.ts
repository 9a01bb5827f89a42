/** Limits the size of each item of a turn, and of all items together. */
import {
  cutText,
  type EventPayload,
  maxHeadSize,
  maxItemSize,
  sizeOf,
  withinSize,
} from '@liminal/protocol';

/** The largest turn, in about the characters of its events' JSON; later output is not kept. */
export const maxTurnSize = 256 * 1024 * 1024;
/** The most items of a turn. A call and its output count as two items. */
export const maxTurnItems = 50_000;
/** If a text is longer than this (in characters), it counts towards the turn's size each time that it is sent again. */
const longText = 64 * 1024;
/** The size of an event without its content. */
const eventItself = 500;

/** Tracks how much more a turn may contain. */
export class TurnBounds {
  /** Characters of each open item's text. */
  readonly #texts = new Map<string, number>();
  #size = 0;
  #items = 0;

  get isFull(): boolean {
    return this.#size > maxTurnSize || this.#items > maxTurnItems;
  }

  /** Shortens a value that is written as a whole, if the value is too large. */
  fit<T extends object>(value: T): T {
    return withinSize(value, isOfTurn(value) ? maxHeadSize : maxItemSize);
  }

  /**
   * Counts text that is appended to an item. Returns the part that still fits; '' once the item has reached its limit.
   */
  more(itemId: string, text: string): string {
    const before = this.#texts.get(itemId) ?? 0;
    if (before > maxItemSize) return '';
    this.#texts.set(itemId, before + text.length);
    const room = maxItemSize - before;
    const fitting = text.length <= room ? text : cutText(text, room);
    // Appended text arrives in many small pieces that are later joined to few events.
    this.#size += fitting.length;
    return fitting;
  }

  /** Records that a new text has replaced the item's text. */
  replaced(itemId: string, text: string): void {
    this.#texts.set(itemId, text.length);
  }

  /** Counts a written event, except text that `more` has counted. */
  count(payload: EventPayload): void {
    if (payload.type === 'item_start') this.#items += 1;
    this.#size += eventItself + sizeOf(payload, 2 * maxItemSize);
  }

  /** Counts a change of an item's fields, because subscribers then receive the whole item again. */
  countAgain(itemId: string): void {
    const text = this.#texts.get(itemId) ?? 0;
    if (text > longText) this.#size += text;
  }

  ended(itemId: string): void {
    this.#texts.delete(itemId);
  }
}

/**
 * Returns whether a value belongs to the turn itself rather than to an item. Every page of the turn's history contains
 * the values of the turn itself.
 */
function isOfTurn(value: object): boolean {
  return 'type' in value && typeof value.type === 'string' && value.type.startsWith('response_');
}
