import { ContentBlock } from '@liminal/protocol';
import { useCallback, useSyncExternalStore } from 'react';
import { type Draft, database } from './database.ts';

/** The drafts, by session or form. All pages of this browser have the same drafts, also after a restart. */
class Drafts {
  readonly #drafts = new Map<string, Draft>();
  readonly #listeners = new Set<() => void>();
  readonly #channel = new BroadcastChannel('liminal.drafts');
  /** The drafts that are not in the database yet. */
  readonly #unwritten = new Map<string, Draft>();
  #isWriting = false;

  constructor() {
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Draft>) => this.#apply(data));
    addEventListener('pagehide', () => {
      for (const draft of this.#unwritten.values()) {
        backUpDraft(draft);
        this.#channel.postMessage(draft);
      }
    });
    void this.#load();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get(key: string): Draft {
    return this.#drafts.get(key) ?? { key, text: '', at: 0 };
  }

  set(key: string, change: Pick<Draft, 'text'> | Pick<Draft, 'blocks'>): void {
    this.#store({ ...this.get(key), ...change, at: Date.now() });
  }

  /**
   * Empties the drafts of a session: the draft of its message, and the drafts whose keys begin with the session's id.
   */
  forget(sessionId: string): void {
    for (const key of this.#drafts.keys()) {
      if (key !== sessionId && !key.startsWith(`${sessionId} `)) continue;
      const { text, blocks = noBlocks } = this.get(key);
      if (text !== '') this.set(key, { text: '' });
      if (blocks.length > 0) this.set(key, { blocks: noBlocks });
    }
  }

  #store(draft: Draft): void {
    this.#apply(draft);
    this.#unwritten.set(draft.key, draft);
    // A browser may close without notifying its pages, so store the draft now and do not wait for an event.
    if (draft.text.length <= maxBackupLength) backUpDraft(draft);
    void this.#write();
  }

  #apply(draft: Draft): void {
    const held = this.#drafts.get(draft.key);
    if (held !== undefined && held.at > draft.at) return;
    this.#drafts.set(draft.key, draft);
    for (const listener of this.#listeners) listener();
  }

  async #load(): Promise<void> {
    const stored = await database()
      .then((db) => db.getAll('drafts'))
      .catch(() => []);
    for (const draft of stored) this.#apply(draft);
    for (const draft of takeBackups()) {
      if (draft.at > (this.#drafts.get(draft.key)?.at ?? 0)) this.#store(draft);
    }
  }

  /**
   * Writes the drafts one at a time, each in its newest state. Notifies the other pages only after the database is
   * written. A page that opens in the meantime subscribes before it reads, so it misses nothing.
   */
  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    for (let [draft] = this.#unwritten.values(); draft; [draft] = this.#unwritten.values()) {
      await writeDraft(draft)
        .then(() => removeBackup(draft))
        .catch(() => undefined);
      this.#channel.postMessage(draft);
      if (this.#unwritten.get(draft.key) === draft) this.#unwritten.delete(draft.key);
    }
    this.#isWriting = false;
  }
}

async function writeDraft(draft: Draft): Promise<void> {
  const written = (await database()).transaction('drafts', 'readwrite');
  const isEmpty = draft.text === '' && (draft.blocks ?? noBlocks).length === 0;
  await (isEmpty ? written.store.delete(draft.key) : written.store.put(draft));
  // Commit now, because the page may be closed before the browser commits by itself.
  written.commit();
  await written.done;
}

/**
 * The prefix of the keys of drafts in localStorage. localStorage keeps a draft until the draft is in the database,
 * because only localStorage stores synchronously.
 */
const backupPrefix = 'liminal.draft.';

/**
 * A draft with more characters than this is stored in localStorage only when the page closes, because otherwise each
 * typed letter would copy the draft.
 */
const maxBackupLength = 20_000;

function backUpDraft({ key, text, blocks, at }: Draft): void {
  try {
    localStorage.setItem(backupPrefix + key, `${at} ${JSON.stringify({ text, blocks })}`);
  } catch {
    // Ignore the error: the draft is too long for localStorage, or the browser forbids storing. The database may still
    // store the draft.
  }
}

/** Removes the draft from localStorage, unless another page has stored a newer draft there. */
function removeBackup({ key, at }: Draft): void {
  const left = localStorage.getItem(backupPrefix + key);
  if (left?.startsWith(`${at} `)) localStorage.removeItem(backupPrefix + key);
}

/** Returns the drafts in localStorage and removes them. */
function takeBackups(): Draft[] {
  const names = Object.keys(localStorage).filter((name) => name.startsWith(backupPrefix));
  return names.flatMap((name) => {
    const left = localStorage.getItem(name) ?? '';
    localStorage.removeItem(name);
    const [at = ''] = left.split(' ', 1);
    const draft = readBackup(left.slice(at.length + 1));
    return draft === undefined
      ? []
      : [{ key: name.slice(backupPrefix.length), ...draft, at: Number(at) }];
  });
}

const Blocks = ContentBlock.array();

function readBackup(json: string): Pick<Draft, 'text' | 'blocks'> | undefined {
  try {
    const { text, blocks = [] } = JSON.parse(json) as { text: unknown; blocks?: unknown };
    return { text: String(text), blocks: Blocks.parse(blocks) };
  } catch {
    return undefined;
  }
}

const noBlocks: readonly ContentBlock[] = [];
const drafts = new Drafts();

/** Deletes the drafts of a deleted session. */
export function forgetDrafts(sessionId: string): void {
  drafts.forget(sessionId);
}

/** Returns the draft with this key (a session's message, or a form's field) and a function that changes it. */
export function useDraft(key: string): [string, (text: string) => void] {
  const draft = useSyncExternalStore(drafts.subscribe, () => drafts.get(key).text);
  const change = useCallback((text: string) => drafts.set(key, { text }), [key]);
  return [draft, change];
}

type ChangeBlocks = (change: (blocks: readonly ContentBlock[]) => readonly ContentBlock[]) => void;

/** Returns the attachments of a draft, and a function that changes them. */
export function useDraftBlocks(key: string): [readonly ContentBlock[], ChangeBlocks] {
  const read = () => drafts.get(key).blocks ?? noBlocks;
  const blocks = useSyncExternalStore(drafts.subscribe, read);
  const change = useCallback<ChangeBlocks>(
    (changed) => {
      const held = drafts.get(key).blocks ?? noBlocks;
      const next = changed(held);
      if (next !== held) drafts.set(key, { blocks: next });
    },
    [key],
  );
  return [blocks, change];
}
