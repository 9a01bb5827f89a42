import type { UpsertObject } from '@liminal/protocol';

/** Files that the session's tools worked on, by every suffix of their paths: `a.ts`, `src/a.ts`, `/code/src/a.ts`. */
export class KnownFiles {
  /** The path by its suffix; undefined for a suffix that several paths share. */
  readonly #bySuffix = new Map<string, string | undefined>();
  readonly #seen = new WeakSet<UpsertObject>();
  readonly #paths = new Set<string>();
  readonly #listeners = new Set<() => void>();

  /** Adds the files of those items that were not added yet. */
  addItems(items: Iterable<UpsertObject>): void {
    const before = this.#paths.size;
    for (const item of items) {
      if (item.type !== 'tool_call' || this.#seen.has(item)) continue;
      this.#seen.add(item);
      for (const { path } of [...(item.locations ?? []), ...(item.diffs ?? [])]) this.#add(path);
    }
    if (this.#paths.size > before) for (const listener of this.#listeners) listener();
  }

  /** Returns the whole path of a file with this name; undefined if the name is unknown or ambiguous. */
  find(name: string): string | undefined {
    return this.#bySuffix.get(name.replace(/^(?:\.\/)+/, ''));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #add(path: string): void {
    if (this.#paths.has(path)) return;
    this.#paths.add(path);
    const parts = path.split('/');
    for (let from = 0; from < parts.length; from++) {
      const end = parts.slice(from).join('/');
      if (end !== '') this.#bySuffix.set(end, this.#bySuffix.has(end) ? undefined : path);
    }
    this.#bySuffix.set(path, path);
  }
}
