import type { StreamEvent } from '@liminal/protocol';
import { isTerminal } from '@liminal/protocol';
import type { RunConstants } from '../../log/event-rows.ts';
import { decodeEvent } from '../../log/event-rows.ts';
import type { RunProgress } from '../../log/append-rules.ts';
import { constantsIn, eventRowOf, type StreamEntry } from '../streams/index.ts';

/** The most events, and the most characters of events, that are kept for followers that are nearly up to date. */
const window = { events: 256, characters: 1_000_000 };
/** The number of events that a follower gets at once. */
const pageSize = 128;

/**
 * The newest events of a run that has followers on this server. The events are read and decoded once for all of these
 * followers. A follower that is further behind reads the stream itself.
 */
export class RunTail {
  readonly #runId: string;
  #constants: RunConstants | undefined;
  #lastSeq: number;
  #closed: boolean;
  #window: StreamEvent[] = [];
  #sizes: number[] = [];
  #characters = 0;

  /** @param state - The run's progress when the tail began; undefined before its first event. */
  constructor(runId: string, state: RunProgress | undefined) {
    this.#runId = runId;
    this.#constants = state?.constants;
    this.#lastSeq = state?.lastSeq ?? -1;
    this.#closed = state !== undefined && (state.ended || state.settled);
  }

  /** The run's constants; undefined before the first event. */
  get constants(): RunConstants | undefined {
    return this.#constants;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get state(): 'unknown' | 'open' | 'closed' {
    if (this.#closed) return 'closed';
    return this.#constants ? 'open' : 'unknown';
  }

  /** Ends the tail: no more events will follow. */
  close(): void {
    this.#closed = true;
  }

  take(entries: StreamEntry[]): void {
    for (const entry of entries) {
      const row = eventRowOf(entry);
      this.#constants ??= constantsIn(entry);
      if (row === undefined || this.#constants === undefined) {
        this.#closed = true;
        return;
      }
      this.#hold(decodeEvent(this.#runId, this.#constants, row), row.payload.length);
    }
  }

  /** Returns a page of the events after a `seq`; undefined if the tail no longer contains the first of these events. */
  since(after: number): StreamEvent[] | undefined {
    if (after >= this.#lastSeq) return [];
    const first = this.#window[0]?.seq ?? this.#lastSeq + 1;
    if (after + 1 < first) return undefined;
    return this.#window.slice(after + 1 - first, after + 1 - first + pageSize);
  }

  #hold(event: StreamEvent, size: number): void {
    // After a lost connection, the log may have dropped events that were not read yet, or may send some events a second
    // time.
    if (event.seq !== this.#lastSeq + 1) this.#forget();
    this.#lastSeq = event.seq;
    this.#closed ||= isTerminal(event);
    this.#window.push(event);
    this.#sizes.push(size);
    this.#characters += size;
    while (this.#window.length > window.events || this.#characters > window.characters) {
      this.#window.shift();
      this.#characters -= this.#sizes.shift() ?? 0;
    }
  }

  #forget(): void {
    this.#window = [];
    this.#sizes = [];
    this.#characters = 0;
  }
}
