import { sizeOf } from '@liminal/protocol';
import { BoundedList } from '../../base/bounded-list.ts';

/** As many things are kept for a later turn; the newest count. */
const MAX_KEPT = 100;
/** About the characters of JSON that are kept of one late update. */
const MAX_LATE = 40_000;

/** What there is no place for and came when no turn ran, or found no item in its turn: for the next one. */
export class UnplacedNews {
  readonly #things = new BoundedList({ values: MAX_KEPT, omits: 'first' });
  /** News of calls that ended with their turn: the last of each. */
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
