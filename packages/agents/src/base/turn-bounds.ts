/** Bounds one turn: its items, each by itself and all together. */
import {
  cutText,
  type EventPayload,
  maxHeadSize,
  maxItemSize,
  sizeOf,
  withinSize,
} from '@liminal/protocol';

/** The largest turn, in about the characters of its events' JSON; what follows is not kept. */
export const maxTurnSize = 256 * 1024 * 1024;
/** The most items of a turn; a call and its output are two. */
export const maxTurnItems = 50_000;
/** For texts longer than this (characters), sending them again counts. */
const longText = 64 * 1024;
/** The size of an event besides its content. */
const eventItself = 500;

/** How much room a turn has left. */
export class TurnBounds {
  /** Characters of text that each open item has. */
  readonly #texts = new Map<string, number>();
  #size = 0;
  #items = 0;

  get isFull(): boolean {
    return this.#size > maxTurnSize || this.#items > maxTurnItems;
  }

  /** Cuts a value that is written whole; `more` bounds text that makes an item longer. */
  fit<T extends object>(value: T): T {
    if (isMoreText(value)) return value;
    return withinSize(value, isOfTurn(value) ? maxHeadSize : maxItemSize);
  }

  /** The part of a longer item's text that fits; empty once the item was cut. */
  more(itemId: string, text: string): string {
    const before = this.#texts.get(itemId) ?? 0;
    if (before > maxItemSize) return '';
    this.#texts.set(itemId, before + text.length);
    const room = maxItemSize - before;
    return text.length <= room ? text : cutText(text, room);
  }

  /** A new text stands in the place of a longer item's text. */
  replaced(itemId: string, text: string): void {
    this.#texts.set(itemId, text.length);
  }

  /** Counts a written event. */
  count(payload: EventPayload): void {
    if (payload.type === 'item_start') this.#items += 1;
    // Text comes in many small pieces, which become few events.
    this.#size += isMoreText(payload)
      ? payload.deltaContent.length
      : eventItself + sizeOf(payload, 2 * maxItemSize);
  }

  /** Counts a change of an item's fields: readers get all of the item again. */
  countAgain(itemId: string): void {
    const text = this.#texts.get(itemId) ?? 0;
    if (text > longText) this.#size += text;
  }

  ended(itemId: string): void {
    this.#texts.delete(itemId);
  }
}

/** Whether a value is stored with the turn, and read with each of its pages. */
function isOfTurn(value: object): boolean {
  return 'type' in value && typeof value.type === 'string' && value.type.startsWith('response_');
}

function isMoreText(value: object): value is { deltaContent: string } {
  return 'deltaContent' in value && !('patch' in value);
}
