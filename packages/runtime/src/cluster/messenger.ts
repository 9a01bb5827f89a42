import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { withRetries } from '@liminal/protocol';
import type { Inboxes, Unsubscribe } from '@liminal/storage';
import { z } from 'zod';
import { errorCode, errorMessage, reported } from '../errors.ts';

const PeerMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ask'), id: z.string(), from: z.string(), question: z.unknown() }),
  z.object({ kind: z.literal('answer'), id: z.string(), value: z.unknown().optional() }),
  z.object({ kind: z.literal('refusal'), id: z.string(), code: z.string(), message: z.string() }),
]);
type PeerMessage = z.infer<typeof PeerMessage>;

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
const retryMs = 200;
const replyMs = 60_000;
/** How long an answer is kept in case the asking server sends its question again, in ms. */
const answerTtlMs = 30_000;

/** The asked server did not receive the question, because it is gone. */
export class NotListeningError extends Error {}

/** Questions between servers, and their answers. */
export class Messenger {
  readonly #options: MessengerOptions;
  readonly #pending = new Map<string, PromiseWithResolvers<unknown>>();
  /** Recent answers by question; undefined while the answer is being computed. */
  readonly #answers = new Map<string, PeerMessage | undefined>();
  readonly #closing = new AbortController();
  #unsubscribe: Unsubscribe | undefined;

  constructor(options: MessengerOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { inboxes, instanceId } = this.#options;
    this.#unsubscribe = await inboxes.open(inboxOf(instanceId), (text) => void this.#receive(text));
  }

  /**
   * Asks another server. Rejects with that server's error, with NotListeningError if that server is not listening, or
   * with the signal's reason.
   */
  async request(instanceId: string, question: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const id = randomUUID();
    const pending = Promise.withResolvers<unknown>();
    // The answer may reject before the send has resolved, or after the caller has given up.
    pending.promise.catch(() => {});
    this.#pending.set(id, pending);
    const giveUp = (): void => pending.reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    const { instanceId: from, againMs = 5_000 } = this.#options;
    const send = () => this.#send(instanceId, { kind: 'ask', id, from, question });
    const again = setInterval(() => void send().catch(() => undefined), againMs).unref();
    try {
      if (!(await send())) throw new NotListeningError(`Server ${instanceId} is not listening.`);
      return await pending.promise;
    } finally {
      clearInterval(again);
      signal.removeEventListener('abort', giveUp);
      this.#pending.delete(id);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    // If the mailbox cannot be closed, it expires soon.
    await this.#unsubscribe?.().catch(this.#options.onTrouble);
    const error = new NotListeningError('This server is shutting down.');
    for (const pending of this.#pending.values()) pending.reject(error);
  }

  async #receive(text: string): Promise<void> {
    try {
      const message = PeerMessage.parse(JSON.parse(text));
      if (message.kind === 'ask') await this.#answer(message);
      else this.#settle(message);
    } catch (error) {
      this.#options.onTrouble(error);
    }
  }

  /** Handles a repeated question: answers it again, but does the work only once. */
  async #answer({ id, from, question }: Extract<PeerMessage, { kind: 'ask' }>): Promise<void> {
    let answer = this.#answers.get(id);
    if (answer === undefined) {
      if (this.#answers.has(id)) return;
      this.#answers.set(id, undefined);
      answer = await this.#computeAnswer(id, question);
      this.#answers.set(id, answer);
      setTimeout(() => this.#answers.delete(id), answerTtlMs).unref();
    }
    await this.#reply(from, answer);
  }

  async #computeAnswer(id: string, question: unknown): Promise<PeerMessage> {
    try {
      return { kind: 'answer', id, value: await this.#options.answer(question) };
    } catch (error) {
      return { kind: 'refusal', id, code: errorCode(error), message: errorMessage(error) };
    }
  }

  /** Sends an answer; retries while Redis is unreachable. If the answer is lost, the asking server asks again. */
  async #reply(to: string, message: PeerMessage): Promise<void> {
    const { signal } = this.#closing;
    const deadline = performance.now() + replyMs;
    await withRetries(
      async () => this.#send(to, message),
      async (error) => {
        if (signal.aborted || performance.now() > deadline) throw error;
        await delay(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
      },
    );
  }

  #settle(message: Exclude<PeerMessage, { kind: 'ask' }>): void {
    const pending = this.#pending.get(message.id);
    if (message.kind === 'answer') pending?.resolve(message.value);
    else pending?.reject(reported(message));
  }

  async #send(instanceId: string, message: PeerMessage): Promise<boolean> {
    return this.#options.inboxes.send(inboxOf(instanceId), JSON.stringify(message));
  }
}

function inboxOf(instanceId: string): string {
  return `instance:${instanceId}`;
}
