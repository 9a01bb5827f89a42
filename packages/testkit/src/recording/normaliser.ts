const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const isoTime = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;

/** The parts of one program's messages that differ from run to run. */
export interface Volatile {
  /** Texts and their replacements. */
  names: [string, string][];
  /** Patterns and their replacements. */
  patterns: [RegExp, string][];
  /** Keys whose values are measured or random numbers. These numbers become 0, even if they are written as text. */
  measured: RegExp;
}

/**
 * Makes recordings comparable: ids are numbered in the order in which they first appear, measured times become 0, and
 * the parts that differ from run to run are replaced. Any other difference between two recordings comes from the
 * recorded program.
 */
export class Normaliser {
  readonly #ids = new Map<string, string>();
  readonly #volatile: Volatile;

  constructor(volatile: Volatile) {
    this.#volatile = volatile;
  }

  /** Returns a normalised copy of `value`. */
  apply<T>(value: T): T {
    return this.#walk('', value) as T;
  }

  #walk(key: string, value: unknown): unknown {
    if (typeof value === 'string')
      return this.#varies(key) && /^\d+$/.test(value) ? '0' : this.#text(value);
    if (typeof value === 'number') return this.#varies(key) ? 0 : value;
    if (Array.isArray(value)) return value.map((inner) => this.#walk(key, inner));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [this.#text(name), this.#walk(name, inner)]),
    );
  }

  #varies(key: string): boolean {
    return this.#volatile.measured.test(key);
  }

  #text(value: string): string {
    let result = value;
    for (const [found, name] of this.#volatile.names) result = result.replaceAll(found, name);
    for (const [pattern, name] of this.#volatile.patterns)
      result = result.replaceAll(pattern, name);
    return result
      .replaceAll(uuidPattern, (id) => this.#numbered(id))
      .replaceAll(isoTime, '2026-01-01T00:00:00.000Z');
  }

  #numbered(id: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const name = `00000000-0000-4000-8000-${String(this.#ids.size + 1).padStart(12, '0')}`;
    this.#ids.set(id, name);
    return name;
  }
}
