import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Requests } from '@liminal/client';
import fc from 'fast-check';
import type { ChaosSubscriber } from './chaos-subscriber.ts';
import type { ChaosWorld } from './world.ts';

const weights = {
  send: 10,
  'send two': 2,
  steer: 4,
  cancel: 3,
  kill: 1,
  remove: 1,
  rename: 1,
  delete: 2,
  fork: 2,
};
const moves = Object.keys(weights) as (keyof typeof weights)[];

/** The next action of a user. */
const move = fc.record({
  kind: fc.oneof(...moves.map((kind) => ({ arbitrary: fc.constant(kind), weight: weights[kind] }))),
  /** The servers that the user tries, one after the other. */
  at: fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }),
  pauseMs: fc.integer({ min: 100, max: 2_500 }),
  /** How long the user waits before withdrawing a message. */
  afterMs: fc.integer({ min: 0, max: 1_500 }),
});
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

/** The outcome of a message, as far as the message's sender can know it. */
export interface Sent {
  sessionId: string;
  message: string;
  outcome: 'acknowledged' | 'refused' | 'unknown';
  turnId?: string;
  /** The message's id, if the message was steered. */
  messageId?: string;
  /** Whether the user asked to remove the message from the queue. */
  removed?: boolean;
  code?: string;
}

interface Answer<T> {
  value?: T;
  refused?: boolean;
  code?: string;
}

/** How long a user waits for a turn before continuing, and how long for the last turn, in ms. */
const patience = { turnMs: 12_000, endMs: 45_000 };

/** Acts as a user: talks to an agent in one session, at any server, and answers the agent's questions. */
export class ChaosUser {
  readonly sessionId: string;
  readonly sent: Sent[] = [];
  /** Further sessions that the user created and deleted. */
  readonly deleted: string[] = [];
  /** Forks of the user's session whose creation is known. */
  readonly forks: string[] = [];
  /** How many requests were rejected, by code. */
  readonly refusals = new Map<string, number>();
  readonly #name: string;
  readonly #moves: Move[];
  readonly #servers: readonly Requests[];
  readonly #subscriber: ChaosSubscriber;
  readonly #projectDir: string;
  readonly #enough = new AbortController();
  readonly #gone = new AbortController();
  #sending: Promise<void> = Promise.resolve();
  #answering: Promise<void> = Promise.resolve();

  constructor(
    name: string,
    seed: number,
    { requests, settings }: Pick<ChaosWorld, 'requests' | 'settings'>,
    watcher: ChaosSubscriber,
  ) {
    this.#name = name;
    this.#moves = fc.sample(move, { seed, numRuns: 40, unbiased: true });
    this.#servers = requests;
    this.#projectDir = settings.root;
    this.#subscriber = watcher;
    this.sessionId = watcher.sessionId;
  }

  start(): void {
    this.#sending = this.#sendMessages();
    this.#answering = this.#answerAll();
  }

  /** Sends a last message, waits until no turn runs, and forks the whole conversation. */
  async finish(): Promise<void> {
    this.#enough.abort();
    await this.#sending;
    const deadline = performance.now() + patience.endMs;
    const inTime = () => performance.now() < deadline;
    for (let at = 0; inTime() && (await this.#send(at, `last ${at}`)).outcome !== 'acknowledged';) {
      at += 1;
      await delay(300);
    }
    for (const sessionId of this.deleted) {
      for (let at = 0; inTime() && !(await this.#delete(sessionId, at)); at += 1) await delay(300);
    }
    for (let state = ''; state !== 'idle' && state !== 'failed'; await delay(150)) {
      const status = this.#servers[0]?.status(this.sessionId);
      state = (await status?.catch(() => undefined))?.state ?? '';
      if (!inTime()) {
        const { phase, problem, info, turns } = this.#subscriber.view;
        const { connectionState: place } = this.#subscriber;
        const held = JSON.stringify([place, phase, problem, info, turns.slice(-3), this.sent]);
        throw new Error(`Session ${this.sessionId} is ${state} and does not end: ${held}`);
      }
    }
    await this.#fork(this.sent.length);
    this.#gone.abort();
    await this.#answering;
  }

  /** Stops the user's actions at the current point. */
  async leave(): Promise<void> {
    this.#enough.abort();
    this.#gone.abort();
    await Promise.all([this.#sending, this.#answering]);
  }

  async #sendMessages(): Promise<void> {
    for (let count = 0; !this.#enough.signal.aborted; count += 1) {
      const next = this.#moves[count % this.#moves.length];
      if (!next) return;
      await this.#pause(next.pauseMs);
      if (!this.#enough.signal.aborted) await this.#make(next, String(count));
    }
  }

  async #make({ kind, at: [first = 0, second = 0], afterMs }: Move, text: string): Promise<void> {
    if (kind === 'rename') {
      await this.#ask(async () => this.#at(first).rename(this.sessionId, `Session ${text}`));
      return;
    }
    if (kind === 'delete') return this.#makeAndDelete(first, second, text, afterMs);
    if (kind === 'fork') return this.#fork(first);
    const sent = await this.#sendSomewhere(first, text);
    if (kind === 'send two') await this.#send(second, `${text} more`);
    if (kind === 'steer') {
      await this.#pause(afterMs);
      await this.#steer(second, `${text} by the way`);
    }
    if (kind === 'remove') await this.#remove(await this.#send(second, `${text} no`), second);
    if (kind === 'cancel' || kind === 'kill') {
      await this.#pause(afterMs);
      await this.#ask(async () => this.#at(second)[kind](this.sessionId));
    }
    if (sent.turnId !== undefined) await this.#untilOver(sent.turnId);
  }

  /**
   * Sends a message. If no server answers, sends the message again through the next server, but with other words,
   * because the first message may have arrived.
   */
  async #sendSomewhere(at: number, text: string): Promise<Sent> {
    let sent = await this.#send(at, text);
    for (let next = 1; sent.outcome === 'unknown' && next < this.#servers.length; next += 1) {
      sent = await this.#send(at + next, `${text} again ${next}`);
    }
    return sent;
  }

  async #send(at: number, text: string): Promise<Sent> {
    const message = `${this.#name} ${text}`;
    const sent: Sent = { sessionId: this.sessionId, message, outcome: 'unknown' };
    this.sent.push(sent);
    const answer = await this.#ask(async () => this.#at(at).send(this.sessionId, message));
    sent.outcome = outcomeOf(answer);
    if (answer.value) sent.turnId = answer.value.turnId;
    if (answer.refused && answer.code !== undefined) sent.code = answer.code;
    return sent;
  }

  /**
   * Steers a message. If no server answers, sends the message again with the same id, so that it is steered only once.
   */
  async #steer(at: number, text: string): Promise<void> {
    const message = `${this.#name} ${text}`;
    const messageId = randomUUID();
    const sent: Sent = { sessionId: this.sessionId, message, messageId, outcome: 'unknown' };
    this.sent.push(sent);
    for (let next = 0; sent.outcome === 'unknown' && next < this.#servers.length; next += 1) {
      const server = this.#at(at + next);
      const answer = await this.#ask(async () => server.steer(this.sessionId, message, messageId));
      sent.outcome = outcomeOf(answer);
      if (answer.value) sent.turnId = answer.value.turnId;
      if (answer.code !== undefined) sent.code = answer.code;
    }
  }

  async #remove(sent: Sent, at: number): Promise<void> {
    const { turnId } = sent;
    if (turnId === undefined) return;
    sent.removed = true;
    await this.#ask(async () => this.#at(at).removeQueued(this.sessionId, turnId));
  }

  /** Creates a fork. If no server answers, requests the same fork again, so that it is created only once. */
  async #fork(at: number): Promise<void> {
    const sessionId = randomUUID();
    for (let next = 0; next < this.#servers.length; next += 1) {
      const server = this.#at(at + next);
      const answer = await this.#ask(async () => server.fork(this.sessionId, { sessionId }));
      if (answer.value) this.forks.push(sessionId);
      if (outcomeOf(answer) !== 'unknown') return;
    }
  }

  /** Sends a message in a further session, and deletes this session. */
  async #makeAndDelete(first: number, second: number, text: string, afterMs: number) {
    const request = { cliType: 'talking', projectDir: this.#projectDir };
    const { value } = await this.#ask(async () => this.#at(first).createSession(request));
    if (!value) return;
    const { sessionId } = value;
    this.deleted.push(sessionId);
    await this.#ask(async () => this.#at(second).send(sessionId, `${this.#name} ${text} aside`));
    await this.#pause(afterMs);
    await this.#delete(sessionId, first);
  }

  /** Whether the session is now known to be deleted. */
  async #delete(sessionId: string, at: number): Promise<boolean> {
    const { value } = await this.#ask(async () => {
      await this.#at(at).deleteSession(sessionId);
      return true;
    });
    return value === true;
  }

  /** Whether a request got no answer. The server may or may not have received such a request. */
  async #ask<T>(request: () => Promise<T>): Promise<Answer<T>> {
    try {
      return { value: await request() };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code } = error;
      this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
      return { code, refused: code !== 'UNREACHABLE' && code !== 'UNEXPECTED_ANSWER' };
    }
  }

  /** Answers each question again and again until it is shown as answered. */
  async #answerAll(): Promise<void> {
    for (let count = 0; !this.#gone.signal.aborted; count += 1) {
      await delay(150);
      const items = this.#subscriber.view.turns.slice(-2).flatMap((turn) => turn.items);
      for (const item of items) {
        if (item.type !== 'approval' || item.status !== 'create') continue;
        const optionId = count % 3 === 0 ? 'no' : 'yes';
        await this.#ask(async () =>
          this.#at(count).answerApproval(this.sessionId, item.approvalId, { optionId }),
        );
      }
    }
  }

  async #untilOver(turnId: string): Promise<void> {
    const deadline = performance.now() + patience.turnMs;
    const isOver = () => {
      const turn = this.#subscriber.view.turns.findLast((one) => one.turnId === turnId);
      return turn !== undefined && turn.status !== 'in_progress';
    };
    while (!isOver() && performance.now() < deadline && !this.#enough.signal.aborted) {
      await delay(50);
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#enough.signal }).catch(() => undefined);
  }

  #at(index: number): Requests {
    const requests = this.#servers[index % this.#servers.length];
    if (!requests) throw new Error('No server is configured.');
    return requests;
  }
}

function outcomeOf({ value, refused }: Answer<unknown>): Sent['outcome'] {
  if (value !== undefined) return 'acknowledged';
  return refused === true ? 'refused' : 'unknown';
}
