import { randomUUID } from 'node:crypto';
import type { Inboxes, Unsubscribe } from '../../coordination.ts';
import { type Keys, retryWhile, type RedisLink, scripts } from '../connection/index.ts';
import type { StreamReader } from '../streams/index.ts';

/** An inbox counts as closed if the server that opened it has been silent for this long, in ms. */
const openMs = 15_000;
/** The most messages that may wait in an inbox, and the longest time that they wait, in ms. */
const waiting = { messages: 1_000, ms: 60_000 };

export class RedisInboxes implements Inboxes {
  readonly #link: RedisLink;
  readonly #keys: Keys;
  readonly #reader: StreamReader;
  readonly #closers = new Set<Unsubscribe>();

  constructor(link: RedisLink, keys: Keys, reader: StreamReader) {
    this.#link = link;
    this.#keys = keys;
    this.#reader = reader;
  }

  async open(name: string, listener: (message: string) => void): Promise<Unsubscribe> {
    const pair = this.#pair(name);
    const opener = randomUUID();
    const last = String(await this.#link.run(scripts.openInbox, pair, [opener, openMs]));
    const close = async () => {
      if (!this.#closers.delete(close)) return;
      clearInterval(timer);
      stop();
      await this.#link.run(scripts.closeInbox, pair, [opener]);
    };
    this.#closers.add(close);
    const keep = async () => {
      const isOurs = await this.#link.run(scripts.keepInbox, pair, [opener, openMs]);
      if (isOurs === 0) await close();
    };
    let keeping: Promise<void> | undefined;
    // Until the inbox is open again, no server can send to it, so retry. After a reconnect, commands may fail for a
    // longer time than reads.
    const keepOpen = () => {
      keeping ??= retryWhile(() => this.#closers.has(close), keep)
        .catch(() => undefined)
        .then(() => {
          keeping = undefined;
        });
    };
    const timer = setInterval(keepOpen, openMs / 3).unref();
    const stop = this.#reader.watch(this.#keys.inbox(name), last, {
      onEntries: (entries) => {
        for (const [, [, message = '']] of entries) listener(message);
      },
      onReconnect: keepOpen,
    });
    return close;
  }

  async send(name: string, message: string): Promise<boolean> {
    const args = [message, waiting.messages, waiting.ms];
    return (await this.#link.run(scripts.send, this.#pair(name), args)) === 1;
  }

  /** Closes all inboxes of this server. If Redis does not answer, an inbox stays open until it expires. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#closers].map(async (close) => close()));
  }

  #pair(name: string): string[] {
    return [this.#keys.inbox(name), this.#keys.opener(name)];
  }
}
