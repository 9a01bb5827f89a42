import type { Response, ResponseState, SessionInfo, StreamEvent } from '@liminal/protocol';
import { encodeCursor, type FoldOutput } from '@liminal/protocol';
import type { Outgoing, Sink, SubscribeOptions, Subscription } from '../api.ts';
import type { HistoryReader } from '../history/index.ts';
import { OpenRun } from './open-run.ts';
import { outgoing, outputMessage } from './outgoing.ts';
import type { SessionSubscribers } from './session-subscribers.ts';
import { Subscriber } from './subscriber.ts';
import type { Supervisor } from '../turn/index.ts';

export interface LocalSubscribersOptions {
  sessionId: string;
  history: HistoryReader;
  info: () => SessionInfo;
  supervisor: Supervisor;
}

/** How long changes of a session's state are collected before they are sent, in ms. */
const infoMs = 33;

/**
 * The state that a session's subscribers share: its open runs and its info. For each subscriber, only a position is
 * stored in addition (invariant 9).
 */
export class LocalSubscribers implements SessionSubscribers {
  readonly #options: LocalSubscribersOptions;
  readonly #runs = new Map<string, OpenRun>();
  readonly #subscribers = new Set<Subscriber>();
  #cursor: string | undefined;
  #flushTimer: NodeJS.Timeout | undefined;
  #infoQueued = false;
  /** Whether a subscriber takes full states instead of appends. */
  #hasPlain = false;
  #version = 0;

  constructor(options: LocalSubscribersOptions) {
    this.#options = options;
  }

  get counts(): { all: number; slow: number } {
    const slow = [...this.#subscribers].filter(({ isSlow }) => isSlow).length;
    return { all: this.#subscribers.size, slow };
  }

  /** The runs whose final state the store may lack, oldest first. */
  get openRuns(): Response[] {
    return [...this.#runs.values()].flatMap((run) => run.response ?? []);
  }

  /** Applies logged events, and sends them to every subscriber. */
  apply(events: readonly StreamEvent[]): void {
    for (const event of events) {
      const run = this.#runs.get(event.runId) ?? this.#begin(event.runId);
      const { live, plain } = run.apply(event, performance.now());
      const before = this.#cursor ?? event.eventId;
      this.#cursor = event.eventId;
      this.#deliver(live, before, true, run);
      if (plain.length > 0) this.#deliver(plain, before, false, run);
    }
    if (this.#hasPlain) this.#scheduleFlush();
  }

  /**
   * Begins a run. A subscriber that already received a part of the run from history must not see the run begin again.
   */
  #begin(runId: string): OpenRun {
    const run = this.#add(runId, new OpenRun());
    for (const subscriber of this.#subscribers) {
      if (subscriber.hasReceivedFrom(runId)) subscriber.markBehind();
    }
    return run;
  }

  #add(runId: string, run: OpenRun): OpenRun {
    run.hasPlainSubscribers = this.#hasPlain;
    this.#runs.set(runId, run);
    return run;
  }

  #subscribersChanged(): void {
    this.#hasPlain = this.#subscribers.values().some(({ deltas }) => !deltas);
    for (const run of this.#runs.values()) run.hasPlainSubscribers = this.#hasPlain;
  }

  /** Returns the position of a run that was applied on this server and whose final state the store may lack. */
  progress(runId: string): { lastSeq: number; hasEnded: boolean } | undefined {
    return this.#runs.get(runId);
  }

  /** Shows a run from a state that subscribers have not seen, and brings the subscribers up to date. */
  restart(runId: string, response: ResponseState): void {
    this.#add(runId, new OpenRun(response));
    this.#cursor = encodeCursor({ runId, seq: response.lastSeq });
    this.resync();
  }

  /**
   * Reloads every subscriber, because subscribers may have missed events. Each subscriber, even if it is already
   * loading, continues from its cursor; or from the start, if it may lack a part of an earlier run.
   */
  resync({ fromBeginning = false } = {}): void {
    this.#version += 1;
    for (const subscriber of this.#subscribers) subscriber.markBehind(fromBeginning);
  }

  forget(runId: string): void {
    if (this.#runs.delete(runId)) this.#version += 1;
  }

  historyGrew(_runs: readonly Response[], isAtEnd: boolean): void {
    this.resync({ fromBeginning: !isAtEnd });
  }

  get version(): number {
    return this.#version;
  }

  /**
   * Combines changes within a short time into one message. The message contains all settings and commands of the agent:
   * if it were sent to every subscriber after each change, it would delay the text of a turn that is just beginning.
   */
  infoChanged(): void {
    if (this.#infoQueued || this.#subscribers.size === 0) return;
    this.#infoQueued = true;
    setTimeout(() => {
      this.#infoQueued = false;
      this.#options.supervisor.run(() => {
        const message = this.infoMessage();
        for (const subscriber of this.#subscribers) subscriber.offer(message);
      });
    }, infoMs);
  }

  infoMessage(): Outgoing {
    const { sessionId, info } = this.#options;
    return outgoing({ type: 'session:info', sessionId, info: info() });
  }

  report(code: string, message: string): void {
    const { sessionId } = this.#options;
    const error = outgoing({ type: 'session:error', sessionId, code, message });
    for (const subscriber of this.#subscribers) subscriber.offer(error);
  }

  subscribe(options: SubscribeOptions, sink: Sink): Subscription {
    const subscriber = new Subscriber({
      sessionId: this.#options.sessionId,
      infoMessage: () => this.infoMessage(),
      history: this.#options.history,
      sink,
      cursor: options.cursor,
      deltas: options.deltas ?? false,
    });
    this.#subscribers.add(subscriber);
    this.#subscribersChanged();
    subscriber.catchUp();
    return {
      drained: () => subscriber.catchUp(),
      close: () => {
        subscriber.close();
        this.#subscribers.delete(subscriber);
        this.#subscribersChanged();
      },
    };
  }

  deleted(): void {
    const message = outgoing({ type: 'session:deleted', sessionId: this.#options.sessionId });
    for (const subscriber of this.#subscribers) subscriber.end(message);
    this.close();
  }

  close(): void {
    clearTimeout(this.#flushTimer);
    for (const subscriber of this.#subscribers) subscriber.close();
    this.#subscribers.clear();
  }

  /**
   * Among an event's outputs, only the last output carries the event's cursor: a subscriber with that cursor has
   * received all outputs.
   */
  #deliver(
    outputs: readonly FoldOutput[],
    before: string,
    deltas: boolean,
    { traced }: OpenRun,
  ): void {
    const after = this.#cursor ?? before;
    for (const [index, output] of outputs.entries()) {
      const cursor = index === outputs.length - 1 ? after : before;
      const wireMessage = outputMessage(output, this.#options.sessionId, cursor);
      const message = outgoing(wireMessage, traced);
      for (const subscriber of this.#subscribers) {
        if (subscriber.deltas === deltas) subscriber.offer(message, cursor);
      }
    }
  }

  #scheduleFlush(): void {
    clearTimeout(this.#flushTimer);
    const times = [...this.#runs.values()].flatMap((run) => run.flushAt ?? []);
    if (times.length === 0) return;
    const { supervisor } = this.#options;
    const wait = Math.max(0, Math.min(...times) - performance.now());
    this.#flushTimer = setTimeout(() => supervisor.run(() => this.#flush()), wait);
    this.#flushTimer.unref();
  }

  #flush(): void {
    for (const run of this.#runs.values()) {
      const cursor = this.#cursor;
      if (cursor !== undefined) this.#deliver(run.flush(performance.now()), cursor, false, run);
    }
    this.#scheduleFlush();
  }
}
