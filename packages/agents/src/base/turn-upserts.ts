import {
  flushIdle,
  foldUpsert,
  isTerminal,
  nextFlushAt,
  onEpoch,
  stampEvent,
  startUpsertFold,
  type EventDraft,
  type FoldResult,
  type TurnEvent,
  type UpsertFoldState,
  type UpsertObject,
} from '@liminal/protocol';

/**
 * Placeholders for the run, seq and trace that the log assigns. The fold uses these placeholders only for the order of
 * the events.
 */
const traceContext = { traceparent: '00-00000000000000000000000000000001-0000000000000001-00' };

/** The upsert fold of one turn, for listeners that were present at its beginning. */
export class TurnUpserts {
  readonly #sessionId: string;
  readonly #upserts: (upsert: UpsertObject) => void;
  readonly #turns: (event: TurnEvent) => void;
  #state = startUpsertFold();
  #seq = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    sessionId: string,
    upserts: (upsert: UpsertObject) => void,
    turns: (event: TurnEvent) => void,
  ) {
    this.#sessionId = sessionId;
    this.#upserts = upserts;
    this.#turns = turns;
  }

  push(draft: EventDraft): 'running' | 'ended' {
    const run = { sessionId: this.#sessionId, runId: draft.turnId, traceContext };
    const event = stampEvent(draft, run, this.#seq++);
    this.#take(foldUpsert(this.#dated(), event, performance.now()));
    return isTerminal(event) ? 'ended' : 'running';
  }

  /** Stops the timer. */
  stop(): undefined {
    clearTimeout(this.#timer);
  }

  #dated(): UpsertFoldState {
    return onEpoch(this.#state, Date.now() - performance.now());
  }

  #take({ state, outputs }: FoldResult): void {
    this.#state = state;
    this.#schedule();
    for (const output of outputs) {
      if (output.kind === 'upsert') this.#upserts(output.upsert);
      else if (output.kind === 'turn') this.#turns(output.event);
    }
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const at = nextFlushAt(this.#state);
    if (at === undefined) return;
    const flush = () => this.#take(flushIdle(this.#dated(), performance.now()));
    this.#timer = setTimeout(flush, Math.max(0, at - performance.now())).unref();
  }
}
