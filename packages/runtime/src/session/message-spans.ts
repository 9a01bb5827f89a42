import {
  type QueuedMessage,
  readTraceparent,
  type Span,
  spanIdOf,
  type TraceContext,
  writeTraceparent,
} from '@liminal/protocol';
import { newTrace, type Tracing } from '../tracing/index.ts';

/** A message that leaves the queue within this time, in ms, counts as sent without waiting. */
const noWaitMs = 5;

interface Interval {
  name: string;
  startedAt: number;
  endedAt: number;
}

/**
 * Records spans of the time between a message and its turn: `session`, and within `session` the spans `wait_in_queue`
 * and `start_agent`. Used only with tracing.
 */
export class MessageSpans {
  readonly #sessionId: string;
  readonly #tracing: Tracing;
  readonly #now: () => number;
  /** The times at which messages left the queue for the agent, by turn. */
  readonly #handedOverAt = new Map<string, number>();
  /** The time of the agent's last start. */
  #start: Interval | undefined;

  constructor(sessionId: string, tracing: Tracing, now: () => number) {
    this.#sessionId = sessionId;
    this.#tracing = tracing;
    this.#now = now;
  }

  recordHandover(turnId: string): void {
    this.#handedOverAt.set(turnId, this.#now());
  }

  async timeAgentStart(start: () => Promise<void>): Promise<void> {
    const startedAt = this.#now();
    await start();
    this.#start = { name: 'start_agent', startedAt, endedAt: this.#now() };
  }

  /**
   * Records the spans that precede a message's turn. Returns the turn's trace context, whose parent is the span
   * `session`. A message without a trace starts a new trace.
   */
  recordTurnStart({ turnId, queuedAt, traceContext }: QueuedMessage): TraceContext {
    const request = readTraceparent(traceContext?.traceparent);
    const handedOverAt = this.#handedOverAt.get(turnId);
    this.#handedOverAt.clear();
    const start = this.#start;
    this.#start = undefined;
    const { traceId, isSampled } = request ?? newTrace(this.#tracing);
    const spanId = spanIdOf(`${turnId}:session`);
    const sessionInterval = {
      name: 'session',
      startedAt: Date.parse(queuedAt),
      endedAt: this.#now(),
    };
    const parent = request && { parentSpanId: request.spanId };
    const within = intervalsIn(sessionInterval, handedOverAt, start).map((interval) =>
      this.#span(turnId, interval, {
        traceId,
        spanId: spanIdOf(`${turnId}:${interval.name}`),
        parentSpanId: spanId,
      }),
    );
    const session = this.#span(turnId, sessionInterval, { traceId, spanId, ...parent });
    if (isSampled) this.#tracing.add([session, ...within]);
    return {
      ...traceContext,
      traceparent: writeTraceparent({ traceId, spanId, isSampled }),
    };
  }

  #span(
    turnId: string,
    interval: Interval,
    place: Pick<Span, 'traceId' | 'spanId' | 'parentSpanId'>,
  ): Span {
    return {
      ...interval,
      ...place,
      kind: 'internal',
      attributes: { 'gen_ai.conversation.id': this.#sessionId, 'liminal.turn.id': turnId },
      hasFailed: false,
    };
  }
}

/** Returns the spans between a message and its turn. The agent may have begun to start before the message was sent. */
function intervalsIn(
  outer: Interval,
  handedOverAt: number | undefined,
  start?: Interval,
): Interval[] {
  const { startedAt } = outer;
  const waited = { name: 'wait_in_queue', startedAt, endedAt: handedOverAt ?? startedAt };
  return [
    ...(waited.endedAt - startedAt > noWaitMs ? [waited] : []),
    ...(start && start.endedAt > startedAt
      ? [{ ...start, startedAt: Math.max(start.startedAt, startedAt) }]
      : []),
  ];
}
