import type { ContentBlock } from '@liminal/protocol';
import { Emitter } from '../emitter.ts';
import type { Files } from '../files/files.ts';
import { ApiError, describeError, isRetryable } from '../http/api-error.ts';
import type { Requests } from '../http/requests.ts';
import { newId } from '../new-id.ts';
import { RetryTimer } from '../socket/retry-timer.ts';
import type { OutboxStorage, UnsentMessage } from './storage.ts';

/** A change in a message's state. `waiting` means that the server is unavailable. */
export type OutboxChange = UnsentMessage & {
  readonly state: 'sending' | 'waiting' | 'refused' | 'delivered' | 'gone';
};

interface OutboxDeps {
  requests: Pick<Requests, 'send' | 'steer'>;
  files: Pick<Files, 'uploadAll' | 'invalidateUploads' | 'forget'>;
  storage: OutboxStorage;
  /**
   * Returns whether the client believes that the server is connected. When this changes, the owner must call `flush`.
   */
  isConnected: () => boolean;
  /** Whether messages that begin with `!` are shell commands of their sender. */
  runCommands?: boolean | undefined;
}

/**
 * The messages that the server may not have received yet. Each message is stored until the server has received it, even
 * if the page or the server restarts. A message has the same turn id on each attempt, so that the server accepts it
 * only once. The messages of a session are sent in order.
 */
export class Outbox {
  readonly changed = new Emitter<OutboxChange>();
  readonly #deps: OutboxDeps;
  readonly #messages = new Map<string, UnsentMessage>();
  /** For each session that is sending messages, the promise of this sending. */
  readonly #sending = new Map<string, Promise<void>>();
  readonly #retryTimer = new RetryTimer(() => this.flush());
  /**
   * The messages that were in the storage. If one of them is later missing there, another page has sent or withdrawn
   * it.
   */
  readonly #stored = new Set<string>();
  /** The messages that were removed on this page. The storage may still contain them for a moment. */
  readonly #dropped = new Set<string>();
  #loaded: Promise<void> | undefined;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    deps.storage.onChange(() => void this.#reload());
  }

  /** Loads unsent messages from storage, and sends them. */
  open(): Promise<void> {
    this.#loaded ??= this.#reload().then(() => this.flush());
    return this.#loaded;
  }

  close(): void {
    this.#retryTimer.cancel();
  }

  /** Returns a session's messages that the server may not have received, the oldest first. */
  messagesOf(sessionId: string): UnsentMessage[] {
    return [...this.#messages.values()]
      .filter((message) => message.sessionId === sessionId)
      .toSorted((a, b) => a.sentAt - b.sentAt);
  }

  /**
   * Stores a message and sends it; with `isSteer`, sends it into the running turn. Resolves when the server has
   * received the message, has refused it, or does not answer.
   */
  async send(
    sessionId: string,
    message: string,
    blocks: readonly ContentBlock[] = [],
    { isSteer }: Pick<UnsentMessage, 'isSteer'> = {},
  ): Promise<void> {
    const latest = this.messagesOf(sessionId).at(-1)?.sentAt ?? 0;
    const sentAt = Math.max(Date.now(), latest + 1);
    const attached = blocks.length > 0 ? { blocks } : {};
    const kind = isSteer && { isSteer };
    const unsent = { turnId: newId(), sessionId, message, ...attached, ...kind, sentAt };
    this.#setState(unsent, 'sending');
    // If the storage is full or closed, the message is still sent.
    await this.#deps.storage.put(unsent).catch(() => undefined);
    await this.#flushSession(sessionId);
  }

  /** Sends a refused message again. A message for a running turn then begins a turn of its own. */
  async sendAgain(turnId: string): Promise<void> {
    const held = this.#messages.get(turnId);
    if (held === undefined) return;
    const { problem: _, isSteer: __, ...unsent } = held;
    this.#setState(unsent, 'sending');
    await this.#deps.storage.put(unsent).catch(() => undefined);
    await this.#flushSession(held.sessionId);
  }

  /** Withdraws a message, or removes a message that the server has received. */
  forget(turnId: string): void {
    const held = this.#messages.get(turnId);
    if (held === undefined) return;
    this.#drop(held, 'gone');
  }

  /** Sends all waiting messages now. */
  flush(): void {
    this.#retryTimer.cancel();
    const sessions = new Set([...this.#messages.values()].map(({ sessionId }) => sessionId));
    for (const sessionId of sessions) void this.#flushSession(sessionId);
  }

  /** Sends a session's waiting messages after the messages that are already being sent, so that the order is kept. */
  #flushSession(sessionId: string): Promise<void> {
    const before = this.#sending.get(sessionId) ?? Promise.resolve();
    const { storage } = this.#deps;
    const sending = before.then(() => storage.withLock(sessionId, () => this.#sendAll(sessionId)));
    this.#sending.set(sessionId, sending);
    return sending;
  }

  async #sendAll(sessionId: string): Promise<void> {
    // While this page waited, another page may have sent some of the messages.
    await this.#reload();
    const next = () => this.messagesOf(sessionId).find(({ problem }) => problem === undefined);
    for (let unsent = next(); unsent !== undefined; unsent = next()) {
      if (!(await this.#attempt(unsent))) return;
    }
    this.#retryTimer.reset();
  }

  /** Sends one message. Returns true if the next message may be sent. */
  async #attempt(unsent: UnsentMessage): Promise<boolean> {
    try {
      await this.#deliver(unsent);
    } catch (error) {
      return this.#failed(unsent, error);
    }
    if (this.#messages.has(unsent.turnId)) this.#drop(unsent, 'delivered');
    return true;
  }

  async #deliver(unsent: UnsentMessage): Promise<void> {
    const { blocks = [] } = unsent;
    try {
      await this.#request(unsent);
    } catch (error) {
      // The server keeps an upload for one day, but the message may have waited longer.
      const isGone = error instanceof ApiError && error.code === 'BLOB_NOT_FOUND';
      if (!isGone || !this.#deps.files.invalidateUploads(blocks)) throw error;
      await this.#request(unsent);
    }
  }

  async #request({ isSteer, sessionId, message, turnId, blocks }: UnsentMessage): Promise<void> {
    const { files, requests, runCommands = false } = this.#deps;
    const attached = blocks === undefined ? {} : { blocks: await files.uploadAll(blocks) };
    // The message was withdrawn while its files were uploaded.
    if (!this.#messages.has(turnId)) return;
    if (isSteer) await requests.steer(sessionId, message, turnId, attached);
    else
      await requests.send(sessionId, message, turnId, {
        ...attached,
        ...(runCommands && { runCommand: true }),
      });
  }

  #failed(unsent: UnsentMessage, error: unknown): boolean {
    // The message was withdrawn, or the server's answer was lost, but the message appeared in the session.
    if (!this.#messages.has(unsent.turnId)) return true;
    if (isRetryable(error)) {
      for (const one of this.messagesOf(unsent.sessionId)) {
        if (one.problem === undefined) this.changed.emit({ ...one, state: 'waiting' });
      }
      // If there is no connection, `flush` continues sending later.
      if (this.#deps.isConnected()) this.#retryTimer.schedule();
      return false;
    }
    const refused = { ...unsent, problem: describeError(error) };
    this.#setState(refused, 'refused');
    void this.#deps.storage.put(refused).catch(() => undefined);
    return true;
  }

  /** Applies changes that other pages have made: messages that they have stored, sent or withdrawn. */
  async #reload(): Promise<void> {
    const stored = await this.#deps.storage.load().catch(() => undefined);
    if (stored === undefined) return;
    for (const unsent of stored) this.#mergeStored(unsent);
    const known = new Set(stored.map(({ turnId }) => turnId));
    for (const held of this.#messages.values()) {
      if (known.has(held.turnId) || !this.#stored.has(held.turnId)) continue;
      this.#messages.delete(held.turnId);
      this.changed.emit({ ...held, state: 'gone' });
    }
    for (const turnId of known) this.#stored.add(turnId);
  }

  #mergeStored(unsent: UnsentMessage): void {
    const held = this.#messages.get(unsent.turnId);
    const isKnown = held !== undefined && held.problem?.message === unsent.problem?.message;
    if (isKnown || this.#dropped.has(unsent.turnId)) return;
    this.#setState(unsent, unsent.problem === undefined ? 'waiting' : 'refused');
  }

  #setState(unsent: UnsentMessage, state: OutboxChange['state']): void {
    this.#messages.set(unsent.turnId, unsent);
    this.changed.emit({ ...unsent, state });
  }

  #drop(unsent: UnsentMessage, state: 'delivered' | 'gone'): void {
    // Only the files of delivered messages are removed, because a person may edit a withdrawn message again together
    // with its files.
    if (state === 'delivered') this.#deps.files.forget(unsent.blocks ?? []);
    this.#messages.delete(unsent.turnId);
    this.#dropped.add(unsent.turnId);
    void this.#deps.storage.remove(unsent.turnId).catch(() => undefined);
    this.changed.emit({ ...unsent, state });
  }
}
