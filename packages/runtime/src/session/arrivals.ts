import {
  type QueuedMessage,
  readTraceparent,
  type Span,
  spanIdOf,
  type TraceContext,
  writeTraceparent,
} from '@liminal/protocol';
import { newTrace, type Tracing } from '../tracing/index.ts';

/** A message that leaves the queue within this time did not wait, in ms. */
const NO_WAIT_MS = 5;

interface Stretch {
  name: string;
  startedAt: number;
  endedAt: number;
}

/**
 * Spans of the time between a message and its turn: `session`, and within it `wait_in_queue` and `start_agent`. Used
 * only with tracing.
 */
export class Arrivals {
  readonly #sessionId: string;
  readonly #tracing: Tracing;
  readonly #now: () => number;
  /** When messages left the queue for the agent, by turn. */
  readonly #handedOn = new Map<string, number>();
  /** The agent's last start. */
  #start: Stretch | undefined;

  constructor(sessionId: string, tracing: Tracing, now: () => number) {
    this.#sessionId = sessionId;
    this.#tracing = tracing;
    this.#now = now;
  }

  handsOn(turnId: string): void {
    this.#handedOn.set(turnId, this.#now());
  }

  async startsAgent(start: () => Promise<void>): Promise<void> {
    const startedAt = this.#now();
    await start();
    this.#start = { name: 'start_agent', startedAt, endedAt: this.#now() };
  }

  /**
   * Records the spans that precede a message's turn, and returns the trace context for the turn, whose parent is
   * `session`. A message without a trace starts a new trace.
   */
  begins({ turnId, queuedAt, traceContext }: QueuedMessage): TraceContext {
    const request = readTraceparent(traceContext?.traceparent);
    const handedOn = this.#handedOn.get(turnId);
    this.#handedOn.clear();
    const start = this.#start;
    this.#start = undefined;
    const { traceId, isSampled } = request ?? newTrace(this.#tracing);
    const spanId = spanIdOf(`${turnId}:session`);
    const whole = { name: 'session', startedAt: Date.parse(queuedAt), endedAt: this.#now() };
    const parent = request && { parentSpanId: request.spanId };
    const within = stretchesIn(whole, handedOn, start).map((stretch) =>
      this.#span(turnId, stretch, {
        traceId,
        spanId: spanIdOf(`${turnId}:${stretch.name}`),
        parentSpanId: spanId,
      }),
    );
    const session = this.#span(turnId, whole, { traceId, spanId, ...parent });
    if (isSampled) this.#tracing.add([session, ...within]);
    return {
      ...traceContext,
      traceparent: writeTraceparent({ traceId, spanId, isSampled }),
    };
  }

  #span(
    turnId: string,
    stretch: Stretch,
    place: Pick<Span, 'traceId' | 'spanId' | 'parentSpanId'>,
  ): Span {
    return {
      ...stretch,
      ...place,
      kind: 'internal',
      attributes: { 'gen_ai.conversation.id': this.#sessionId, 'liminal.turn.id': turnId },
      hasFailed: false,
    };
  }
}

/** The spans between a message and its turn. The agent's start may have begun before the message was sent. */
function stretchesIn(whole: Stretch, handedOn: number | undefined, start?: Stretch): Stretch[] {
  const { startedAt } = whole;
  const waited = { name: 'wait_in_queue', startedAt, endedAt: handedOn ?? startedAt };
  return [
    ...(waited.endedAt - startedAt > NO_WAIT_MS ? [waited] : []),
    ...(start && start.endedAt > startedAt
      ? [{ ...start, startedAt: Math.max(start.startedAt, startedAt) }]
      : []),
  ];
}
