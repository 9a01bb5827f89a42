/** The largest size of an item (`sizeOf`); a larger item is cut. */
export const maxItemSize = 16 * 1024 * 1024;
/** The largest size of a turn's data without the turn's items: model, end and error. */
export const maxHeadSize = 64 * 1024;

/** The mark is ASCII, because any other character would double the memory of the whole text. */
const mark = '... (cut here: too long)';
/** Texts up to this length are not cut, because they are names and type words. */
const short = 64;
/** The number of an object's fields that are kept even if there is no room for their values. */
const fewFields = 100;

/** Returns the approximate number of characters of a value's JSON; stops counting above `room`. */
export function sizeOf(value: unknown, room: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && size <= room; at += 1) {
      size += 1 + sizeOf(value[at], room - size);
    }
    return size;
  }
  for (const key of Object.keys(value)) {
    size += key.length + 4 + sizeOf((value as Record<string, unknown>)[key], room - size);
    if (size > room) break;
  }
  return size;
}

/**
 * Returns the value itself if it is not larger than `room`. Otherwise returns a copy of about that size and with the
 * same shape: long texts are cut and marked, and lists are shortened.
 */
export function withinSize<T>(value: T, room: number): T {
  return sizeOf(value, room) <= room ? value : (new Cutter(room).cut(value) as T);
}

const isHigh = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000;

/**
 * Returns the first `length` characters of a text. Returns one character less if the cut would divide a surrogate pair.
 */
export function headOf(text: string, length: number): string {
  const isHalved = isHigh(text.charCodeAt(length - 1)) && isLow(text.charCodeAt(length));
  return text.slice(0, isHalved ? length - 1 : length);
}

/**
 * Returns the last `length` characters of a text. Returns one character less if the cut would divide a surrogate pair.
 */
export function tailOf(text: string, length: number): string {
  const at = Math.max(0, text.length - length);
  const isHalved = isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1));
  return text.slice(isHalved ? at + 1 : at);
}

/** The beginning of a text, followed by the mark for a cut. */
export const cutText = (text: string, length: number): string => headOf(text, length) + mark;

class Cutter {
  #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  cut(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) {
      this.#room -= 8;
      return value;
    }
    this.#room -= 2;
    return Array.isArray(value) ? this.#list(value) : this.#fields(value);
  }

  #text(text: string): string {
    const room = Math.max(0, this.#room);
    this.#room -= text.length + 2;
    return text.length <= Math.max(room, short) ? text : cutText(text, room);
  }

  #list(list: readonly unknown[]): unknown[] {
    const kept: unknown[] = [];
    for (const one of list) {
      if (this.#room <= 0) break;
      this.#room -= 1;
      kept.push(this.cut(one));
    }
    return kept;
  }

  #fields(object: object): object {
    const kept: [string, unknown][] = [];
    for (const key of Object.keys(object)) {
      if (this.#room <= 0 && kept.length >= fewFields) break;
      this.#room -= key.length + 4;
      kept.push([key, this.cut((object as Record<string, unknown>)[key])]);
    }
    return Object.fromEntries(kept);
  }
}
