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
  /** This server's name among the others. */
  instanceId: string;
  /** How often a question without an answer is asked again, in ms: it, or the answer, may be lost with Redis. */
  againMs?: number;
  /** Answers another server's question; if it rejects, the asker gets the code and the sentence. */
  answer: (question: unknown) => Promise<unknown>;
  onTrouble: (error: unknown) => void;
}

/** How often sending an answer is retried, and for how long, in ms. */
const RETRY_MS = 200;
const REPLY_MS = 60_000;
/** How long an answer is kept for a question that comes again, in ms. */
const KEPT_MS = 30_000;

/** The question was not heard: the server is gone. */
export class NotHeard extends Error {}

/** Questions between servers, and their answers. */
export class Messenger {
  readonly #options: MessengerOptions;
  readonly #asked = new Map<string, PromiseWithResolvers<unknown>>();
  /** Answers to questions of the last while, by question; undefined while one is being found. */
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
   * Asks another server. Rejects with its refusal, with NotHeard if it does not listen, or with the signal's reason.
   */
  async ask(instanceId: string, question: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const id = randomUUID();
    const asked = Promise.withResolvers<unknown>();
    // A refusal may come before the send has resolved, or after the caller has given up.
    asked.promise.catch(() => {});
    this.#asked.set(id, asked);
    const giveUp = (): void => asked.reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    const { instanceId: from, againMs = 5_000 } = this.#options;
    const send = () => this.#send(instanceId, { kind: 'ask', id, from, question });
    const again = setInterval(() => void send().catch(() => undefined), againMs).unref();
    try {
      if (!(await send())) throw new NotHeard(`Server ${instanceId} does not listen.`);
      return await asked.promise;
    } finally {
      clearInterval(again);
      signal.removeEventListener('abort', giveUp);
      this.#asked.delete(id);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    // If it cannot be closed it expires soon.
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

  /** A question that comes again is answered again, and worked on once. */
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

  /** Retries while Redis is away. An asker that does not hear it asks again. */
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
