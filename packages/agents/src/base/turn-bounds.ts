/** Of one turn: bounds what is written of its items, each by itself and all together. */
import {
  cutText,
  type EventPayload,
  maxHeadSize,
  maxItemSize,
  sizeOf,
  withinSize,
} from '@liminal/protocol';

/** A turn says no more than this (about the characters of its events' JSON); what follows is not kept. */
export const maxTurnSize = 256 * 1024 * 1024;
/** Nor has it more items; a call and its output are two. */
export const maxTurnItems = 50_000;
/** Of a text that is longer than this (characters) it counts that it is told again. */
const longText = 64 * 1024;
/** What any event takes beside what it says. */
const eventItself = 500;

/** How much of a turn there is room for still. */
export class TurnBounds {
  /** Characters of text that each open item has been given. */
  readonly #texts = new Map<string, number>();
  #size = 0;
  #items = 0;

  get isFull(): boolean {
    return this.#size > maxTurnSize || this.#items > maxTurnItems;
  }

  /** Anything that is written whole; of a text that makes an item longer `more` takes care. */
  fit<T extends object>(value: T): T {
    if (isMoreText(value)) return value;
    return withinSize(value, isOfTurn(value) ? maxHeadSize : maxItemSize);
  }

  /** What there is room for of a text that makes an item longer; nothing once that was cut. */
  more(itemId: string, text: string): string {
    const before = this.#texts.get(itemId) ?? 0;
    if (before > maxItemSize) return '';
    this.#texts.set(itemId, before + text.length);
    const room = maxItemSize - before;
    return text.length <= room ? text : cutText(text, room);
  }

  /** Notes what is written. */
  count(payload: EventPayload): void {
    if (payload.type === 'item_start') this.#items += 1;
    // Text comes in many small pieces, which become few events.
    this.#size += isMoreText(payload)
      ? payload.deltaContent.length
      : eventItself + sizeOf(payload, 2 * maxItemSize);
  }

  /** Notes that an item's fields change: readers are given all of it again. */
  countAgain(itemId: string): void {
    const text = this.#texts.get(itemId) ?? 0;
    if (text > longText) this.#size += text;
  }

  ended(itemId: string): void {
    this.#texts.delete(itemId);
  }
}

/** What is kept with the turn, and read with each of its pages. */
function isOfTurn(value: object): boolean {
  return 'type' in value && typeof value.type === 'string' && value.type.startsWith('response_');
}

function isMoreText(value: object): value is { deltaContent: string } {
  return 'deltaContent' in value && !('patch' in value);
}
