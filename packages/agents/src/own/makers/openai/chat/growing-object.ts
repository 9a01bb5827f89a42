const [quote, backslash] = ['"', '\\'];

/**
 * A JSON text that arrives in pieces; reports whether the text so far is a complete object. Each character is read only
 * once.
 */
export class GrowingObject {
  #state: 'before' | 'open' | 'whole' | 'other' = 'before';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  get isComplete(): boolean {
    return this.#state === 'whole';
  }

  add(text: string): void {
    for (const character of text) this.#read(character);
  }

  #read(character: string): void {
    if (this.#isInString) return this.#readInString(character);
    if (/\s/.test(character)) return;
    if (this.#state === 'before') this.#state = character === '{' ? 'open' : 'other';
    else if (this.#state === 'whole') this.#state = 'other';
    if (character === quote) this.#isInString = true;
    else if (character === '{' || character === '[') this.#depth += 1;
    else if (character === '}' || character === ']') this.#depth -= 1;
    if (this.#state === 'open' && this.#depth === 0) this.#state = 'whole';
  }

  #readInString(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === backslash) this.#isEscaped = true;
    else if (character === quote) this.#isInString = false;
  }
}
