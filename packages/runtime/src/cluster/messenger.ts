import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LiminalError } from '@liminal/protocol';
import type { Inboxes, Unsubscribe } from '@liminal/storage';
import { z } from 'zod';
import { errorCode, errorMessage } from '../errors.ts';

const Message = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ask'), id: z.string(), from: z.string(), question: z.unknown() }),
  z.object({ kind: z.literal('answer'), id: z.string(), value: z.unknown().optional() }),
  z.object({ kind: z.literal('refusal'), id: z.string(), code: z.string(), message: z.string() }),
]);
type Message = z.infer<typeof Message>;

interface MessengerOptions {
  inboxes: Inboxes;
  /** This server's name among the servers. */
  instanceId: string;
  /** How often an unanswered question is sent again, in ms: a failing Redis may lose the question or the answer. */
  againMs?: number;
  /** Answers another server's question. If it rejects, the asking server gets the error's code and message. */
  answer: (question: unknown) => Promise<unknown>;
  onTrouble: (error: unknown) => void;
}

/** How often sending an answer is retried, and for how long, in ms. */
const RETRY_MS = 200;
const REPLY_MS = 60_000;
/** How long an answer is kept in case its question is sent again, in ms. */
const KEPT_MS = 30_000;

/** The question was not received: the other server is gone. */
export class NotHeard extends Error {}

/** Questions between servers, and their answers. */
export class Messenger {
  readonly #options: MessengerOptions;
  readonly #asked = new Map<string, PromiseWithResolvers<unknown>>();
  /** Recent answers by question; undefined while the answer is being computed. */
  readonly #answers = new Map<string, Message | undefined>();
  readonly #closing = new AbortController();
  #leave: Unsubscribe | undefined;

  constructor(options: MessengerOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { inboxes, instanceId } = this.#options;
    this.#leave = await inboxes.open(inboxOf(instanceId), (text) => void this.#receive(text));
  }

  /**
   * Asks another server. Rejects with that server's error, with NotHeard if the server is not listening, or with the
   * signal's reason.
   */
  async ask(instanceId: string, question: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const id = randomUUID();
    const asked = Promise.withResolvers<unknown>();
    // The answer may reject before the send has resolved, or after the caller has given up.
    asked.promise.catch(() => {});
    this.#asked.set(id, asked);
    const giveUp = (): void => asked.reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    const { instanceId: from, againMs = 5_000 } = this.#options;
    const send = () => this.#send(instanceId, { kind: 'ask', id, from, question });
    const again = setInterval(() => void send().catch(() => undefined), againMs).unref();
    try {
      if (!(await send())) throw new NotHeard(`Server ${instanceId} is not listening.`);
      return await asked.promise;
    } finally {
      clearInterval(again);
      signal.removeEventListener('abort', giveUp);
      this.#asked.delete(id);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    // If the mailbox cannot be closed, it expires soon.
    await this.#leave?.().catch(this.#options.onTrouble);
    const error = new NotHeard('This server is shutting down.');
    for (const asked of this.#asked.values()) asked.reject(error);
  }

  async #receive(text: string): Promise<void> {
    try {
      const message = Message.parse(JSON.parse(text));
      if (message.kind === 'ask') await this.#answer(message);
      else this.#settle(message);
    } catch (error) {
      this.#options.onTrouble(error);
    }
  }

  /** A repeated question is answered again, but worked on only once. */
  async #answer({ id, from, question }: Extract<Message, { kind: 'ask' }>): Promise<void> {
    let answer = this.#answers.get(id);
    if (answer === undefined) {
      if (this.#answers.has(id)) return;
      this.#answers.set(id, undefined);
      answer = await this.#find(id, question);
      this.#answers.set(id, answer);
      setTimeout(() => this.#answers.delete(id), KEPT_MS).unref();
    }
    await this.#reply(from, answer);
  }

  async #find(id: string, question: unknown): Promise<Message> {
    try {
      return { kind: 'answer', id, value: await this.#options.answer(question) };
    } catch (error) {
      return { kind: 'refusal', id, code: errorCode(error), message: errorMessage(error) };
    }
  }

  /** Retries while Redis is unreachable. If the answer is lost, the asking server asks again. */
  async #reply(to: string, message: Message): Promise<void> {
    const { signal } = this.#closing;
    const deadline = performance.now() + REPLY_MS;
    for (;;) {
      try {
        await this.#send(to, message);
        return;
      } catch (error) {
        if (signal.aborted || performance.now() > deadline) throw error;
        await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  #settle(message: Exclude<Message, { kind: 'ask' }>): void {
    const asked = this.#asked.get(message.id);
    if (message.kind === 'answer') asked?.resolve(message.value);
    else asked?.reject(new LiminalError(message.code, message.message));
  }

  async #send(instanceId: string, message: Message): Promise<boolean> {
    return this.#options.inboxes.send(inboxOf(instanceId), JSON.stringify(message));
  }
}

function inboxOf(instanceId: string): string {
  return `instance:${instanceId}`;
}
