import type { StreamEvent } from '@liminal/protocol';
import {
  type Outgoing,
  overrideMethods,
  type Runtime,
  Stage,
  type TracedRun,
  type Tracing,
} from '@liminal/runtime';

/** How many readers of one session, or of one run, are traced at the same time. */
const tracedSubscribersMax = 8;

type Transport = 'sse' | 'websocket';

/**
 * Wraps a runtime for one transport, and records the sent events: one span for each run and reader, for a limited
 * number of readers. The span belongs to the trace in the turn's events.
 */
export function traceDelivery(
  runtime: Runtime,
  transport: Transport,
  tracing: Tracing | undefined,
): Runtime {
  if (!tracing) return runtime;
  const slots = new TraceSlots();
  const name = `delivery ${transport}`;

  const subscribe: Runtime['subscribe'] = (sessionId, options, sink) => {
    const leave = slots.acquire(sessionId);
    if (!leave) return runtime.subscribe(sessionId, options, sink);
    const delivery = new Delivery(tracing, name);
    const send = (outgoing: Outgoing) => delivery.send(outgoing, () => sink.send(outgoing));
    const subscription = runtime.subscribe(sessionId, options, { ...sink, send });
    return {
      drained: () => subscription.drained(),
      close: () => {
        subscription.close();
        delivery.end();
        leave();
      },
    };
  };

  const followRun: Runtime['followRun'] = async (runId, options) => {
    const feed = await runtime.followRun(runId, options);
    const leave = feed.kind === 'events' ? slots.acquire(runId) : undefined;
    if (!leave || feed.kind === 'snapshot') return feed;
    return { kind: 'events', events: delivered(feed.events, new Delivery(tracing, name), leave) };
  };

  return overrideMethods(runtime, { subscribe, followRun });
}

/** Limits the number of traced readers. */
class TraceSlots {
  readonly #taken = new Map<string, number>();

  /**
   * Occupies one of the limited places for traced readers of a session or run. Returns undefined if no place is free.
   * Otherwise the caller must call the returned function once, to free the place.
   */
  acquire(followed: string): (() => void) | undefined {
    const taken = this.#taken.get(followed) ?? 0;
    if (taken >= tracedSubscribersMax) return undefined;
    this.#taken.set(followed, taken + 1);
    return () => {
      const left = (this.#taken.get(followed) ?? 1) - 1;
      if (left > 0) this.#taken.set(followed, left);
      else this.#taken.delete(followed);
    };
  }
}

/** Records the messages that were sent to one reader, with one span per run. */
class Delivery {
  readonly #tracing: Tracing;
  readonly #name: string;
  #stage: Stage | undefined;
  /** The run whose messages are being sent. */
  #runId: string | undefined;

  constructor(tracing: Tracing, name: string) {
    this.#tracing = tracing;
    this.#name = name;
  }

  send(outgoing: Outgoing, send: () => boolean): boolean {
    const { message, run } = outgoing;
    const stage = run && this.of(run);
    const begun = performance.now();
    const hasRoom = send();
    stage?.took(performance.now() - begun);
    stage?.count('characters', outgoing.json().length);
    // The reader reads more slowly than the agent writes.
    if (!hasRoom) stage?.count('times_full', 1);
    if (message.type === 'session:turn' && message.payload.type !== 'turn_started') this.end();
    return hasRoom;
  }

  /** Returns the stage span of a run, and ends the stage span of the previous run. */
  of(run: TracedRun): Stage | undefined {
    const { runId } = run;
    if (runId !== this.#runId) {
      this.end();
      this.#runId = runId;
      this.#stage = Stage.of(this.#tracing, run, this.#name);
    }
    return this.#stage;
  }

  end(): void {
    this.#stage?.end();
    this.#stage = undefined;
    this.#runId = undefined;
  }
}

/** Yields the same events. The time that is recorded for an event ends when the reader requests the next event. */
async function* delivered(
  events: AsyncIterable<StreamEvent>,
  delivery: Delivery,
  leave: () => void,
): AsyncGenerator<StreamEvent, void> {
  try {
    for await (const event of events) {
      const stage = delivery.of(event);
      const begun = performance.now();
      yield event;
      stage?.took(performance.now() - begun);
      stage?.count('events', 1);
    }
  } finally {
    delivery.end();
    leave();
  }
}
