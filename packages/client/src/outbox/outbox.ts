import type { ContentBlock } from '@liminal/protocol';
import { Emitter } from '../emitter.ts';
import type { Files } from '../files/files.ts';
import { ApiError, describeError, isForLater } from '../http/api-error.ts';
import type { Requests } from '../http/requests.ts';
import { newId } from '../new-id.ts';
import { Later } from '../socket/later.ts';
import type { OutboxStorage, UnsentMessage } from './storage.ts';

/** What has happened to a message; `waiting`: the server is away. */
export type OutboxChange = UnsentMessage & {
  readonly state: 'sending' | 'waiting' | 'refused' | 'delivered' | 'gone';
};

interface OutboxDeps {
  requests: Pick<Requests, 'send' | 'steer'>;
  files: Pick<Files, 'onServer' | 'uploadAnew' | 'forget'>;
  storage: OutboxStorage;
  /** Whether the server is connected, as far as is known; when that changes, the owner calls `flush`. */
  isConnected: () => boolean;
  /** Whether messages that begin with `!` are commands of the person who writes them. */
  runCommands?: boolean | undefined;
}

/**
 * Messages on their way to the server. Each is kept until the server has it, even if page or server restart. It keeps
 * its turn id on each attempt, so the server takes it once. Messages of one session are sent in order.
 */
export class Outbox {
  readonly changed = new Emitter<OutboxChange>();
  readonly #deps: OutboxDeps;
  readonly #messages = new Map<string, UnsentMessage>();
  /** By session. */
  readonly #sending = new Map<string, Promise<void>>();
  readonly #again = new Later(() => this.flush());
  /** What storage was seen to have: what is missing there later was sent or taken back by another page. */
  readonly #stored = new Set<string>();
  /** What was dropped here; storage may learn of it a moment later. */
  readonly #dropped = new Set<string>();
  #loaded: Promise<void> | undefined;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    deps.storage.onChange(() => void this.#reload());
  }

  /** Loads what was left unsent, and sends it. */
  open(): Promise<void> {
    this.#loaded ??= this.#reload().then(() => this.flush());
    return this.#loaded;
  }

  close(): void {
    this.#again.cancel();
  }

  /** A session's messages that the server is not known to have, oldest first. */
  of(sessionId: string): UnsentMessage[] {
    return [...this.#messages.values()]
      .filter((message) => message.sessionId === sessionId)
      .toSorted((a, b) => a.sentAt - b.sentAt);
  }

  /** Keeps a message and sends it; with `isSteer` into the turn that runs. Resolves when the server has it, has refused it, or does not answer. */
  async send(
    sessionId: string,
    message: string,
    blocks: readonly ContentBlock[] = [],
    { isSteer }: Pick<UnsentMessage, 'isSteer'> = {},
  ): Promise<void> {
    const latest = this.of(sessionId).at(-1)?.sentAt ?? 0;
    const sentAt = Math.max(Date.now(), latest + 1);
    const attached = blocks.length > 0 ? { blocks } : {};
    const kind = isSteer && { isSteer };
    const unsent = { turnId: newId(), sessionId, message, ...attached, ...kind, sentAt };
    this.#hold(unsent, 'sending');
    // Full or closed storage is no reason not to send.
    await this.#deps.storage.put(unsent).catch(() => undefined);
    await this.#flushSession(sessionId);
  }

  /** Sends a refused message again: one that was for a running turn as a message of its own. */
  async sendAgain(turnId: string): Promise<void> {
    const held = this.#messages.get(turnId);
    if (held === undefined) return;
    const { problem: _, isSteer: __, ...unsent } = held;
    this.#hold(unsent, 'sending');
    await this.#deps.storage.put(unsent).catch(() => undefined);
    await this.#flushSession(held.sessionId);
  }

  /** Takes a message back, or forgets one that the server is known to have. */
  forget(turnId: string): void {
    const held = this.#messages.get(turnId);
    if (held === undefined) return;
    this.#drop(held, 'gone');
  }

  /** Sends all waiting messages now. */
  flush(): void {
    this.#again.cancel();
    const sessions = new Set([...this.#messages.values()].map(({ sessionId }) => sessionId));
    for (const sessionId of sessions) void this.#flushSession(sessionId);
  }

  /** One after the other, so that a session's messages keep their order. */
  #flushSession(sessionId: string): Promise<void> {
    const before = this.#sending.get(sessionId) ?? Promise.resolve();
    const { storage } = this.#deps;
    const sending = before.then(() =>
      storage.exclusively(sessionId, () => this.#sendAll(sessionId)),
    );
    this.#sending.set(sessionId, sending);
    return sending;
  }

  async #sendAll(sessionId: string): Promise<void> {
    // Another page may have sent some while this one waited.
    await this.#reload();
    const next = () => this.of(sessionId).find(({ problem }) => problem === undefined);
    for (let unsent = next(); unsent !== undefined; unsent = next()) {
      if (!(await this.#attempt(unsent))) return;
    }
    this.#again.worked();
  }

  /** Sends one message; true if the next one may be sent. */
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
      // The server keeps an upload for a day: the message may have waited longer.
      const isGone = error instanceof ApiError && error.code === 'BLOB_NOT_FOUND';
      if (!isGone || !this.#deps.files.uploadAnew(blocks)) throw error;
      await this.#request(unsent);
    }
  }

  async #request({ isSteer, sessionId, message, turnId, blocks }: UnsentMessage): Promise<void> {
    const { files, requests, runCommands = false } = this.#deps;
    const attached = blocks === undefined ? {} : { blocks: await files.onServer(blocks) };
    // Taken back while its files were on their way.
    if (!this.#messages.has(turnId)) return;
    if (isSteer) await requests.steer(sessionId, message, turnId, attached);
    else
      await requests.send(sessionId, message, turnId, {
        ...attached,
        ...(runCommands && { runCommand: true }),
      });
  }

  #failed(unsent: UnsentMessage, error: unknown): boolean {
    // Taken back meanwhile, or shown by the server although its answer was lost.
    if (!this.#messages.has(unsent.turnId)) return true;
    if (isForLater(error)) {
      for (const one of this.of(unsent.sessionId)) {
        if (one.problem === undefined) this.changed.emit({ ...one, state: 'waiting' });
      }
      // Without a connection, sending goes on as soon as there is one.
      if (this.#deps.isConnected()) this.#again.schedule();
      return false;
    }
    const refused = { ...unsent, problem: describeError(error) };
    this.#hold(refused, 'refused');
    void this.#deps.storage.put(refused).catch(() => undefined);
    return true;
  }

  /** Takes over what other pages have kept, sent and taken back. */
  async #reload(): Promise<void> {
    const kept = await this.#deps.storage.load().catch(() => undefined);
    if (kept === undefined) return;
    for (const unsent of kept) this.#takeOver(unsent);
    const known = new Set(kept.map(({ turnId }) => turnId));
    for (const held of this.#messages.values()) {
      if (known.has(held.turnId) || !this.#stored.has(held.turnId)) continue;
      this.#messages.delete(held.turnId);
      this.changed.emit({ ...held, state: 'gone' });
    }
    for (const turnId of known) this.#stored.add(turnId);
  }

  #takeOver(unsent: UnsentMessage): void {
    const held = this.#messages.get(unsent.turnId);
    const isKnown = held !== undefined && held.problem?.message === unsent.problem?.message;
    if (isKnown || this.#dropped.has(unsent.turnId)) return;
    this.#hold(unsent, unsent.problem === undefined ? 'waiting' : 'refused');
  }

  #hold(unsent: UnsentMessage, state: OutboxChange['state']): void {
    this.#messages.set(unsent.turnId, unsent);
    this.changed.emit({ ...unsent, state });
  }

  #drop(unsent: UnsentMessage, state: 'delivered' | 'gone'): void {
    // What was taken back may be edited, with its files.
    if (state === 'delivered') this.#deps.files.forget(unsent.blocks ?? []);
    this.#messages.delete(unsent.turnId);
    this.#dropped.add(unsent.turnId);
    void this.#deps.storage.remove(unsent.turnId).catch(() => undefined);
    this.changed.emit({ ...unsent, state });
  }
}
