import { useCallback, useSyncExternalStore } from 'react';
import { type Draft, database } from './database.ts';

/** What is being written, by session or form: the same in all pages of this browser, and after a restart. */
class Drafts {
  readonly #drafts = new Map<string, Draft>();
  readonly #listeners = new Set<() => void>();
  readonly #others = new BroadcastChannel('liminal.drafts');
  /** Waits to be written, while something else is. */
  readonly #unwritten = new Map<string, Draft>();
  #isWriting = false;

  constructor() {
    this.#others.addEventListener('message', ({ data }: MessageEvent<Draft>) => this.#take(data));
    void this.#load();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get(key: string): string {
    return this.#drafts.get(key)?.text ?? '';
  }

  set(key: string, text: string): void {
    const draft = { key, text, at: Date.now() };
    this.#take(draft);
    this.#others.postMessage(draft);
    this.#unwritten.set(key, draft);
    void this.#write();
  }

  #take(draft: Draft): void {
    const held = this.#drafts.get(draft.key);
    if (held !== undefined && held.at > draft.at) return;
    this.#drafts.set(draft.key, draft);
    for (const listener of this.#listeners) listener();
  }

  async #load(): Promise<void> {
    const kept = await database()
      .then((db) => db.getAll('drafts'))
      .catch(() => []);
    for (const draft of kept) this.#take(draft);
  }

  /** One at a time, the newest state of each. */
  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    for (let [draft] = this.#unwritten.values(); draft; [draft] = this.#unwritten.values()) {
      this.#unwritten.delete(draft.key);
      await keep(draft).catch(() => undefined);
    }
    this.#isWriting = false;
  }
}

async function keep(draft: Draft): Promise<void> {
  const written = (await database()).transaction('drafts', 'readwrite');
  await (draft.text === '' ? written.store.delete(draft.key) : written.store.put(draft));
  // The page may be gone before the browser would do so by itself.
  written.commit();
  await written.done;
}

const drafts = new Drafts();

/** What is being written under a name: a session's message, or a form's field. */
export function useDraft(key: string): [string, (text: string) => void] {
  const draft = useSyncExternalStore(drafts.subscribe, () => drafts.get(key));
  const change = useCallback((text: string) => drafts.set(key, text), [key]);
  return [draft, change];
}
