import { sizeOf } from '@liminal/protocol';
import { BoundedList } from '../../base/bounded-list.ts';

/** How many values are kept for a later turn; the newest count. */
const MAX_KEPT = 100;
/** How much is kept of one late update, in about the characters of JSON. */
const MAX_LATE = 40_000;

/** Values without a place that came while no turn ran, or found no item in their turn: for the next one. */
export class UnplacedNews {
  readonly #things = new BoundedList({ values: MAX_KEPT, omits: 'first' });
  /** The last update of each call that ended with its turn. */
  readonly #late = new Map<string, unknown>();

  add(...things: unknown[]): void {
    for (const thing of things) this.#things.add(thing);
  }

  late(callId: string, update: unknown): void {
    if (this.#late.size >= MAX_KEPT && !this.#late.has(callId)) return;
    const fits = sizeOf(update, MAX_LATE) <= MAX_LATE;
    this.#late.set(callId, fits ? update : { toolCallId: callId, omitted: 1 });
  }

  take(): unknown[] {
    for (const update of this.#late.values()) this.#things.add(update);
    this.#late.clear();
    return this.#things.take();
  }
}
