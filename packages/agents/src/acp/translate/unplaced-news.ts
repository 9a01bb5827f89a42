import { sizeOf } from '@liminal/protocol';
import { BoundedList } from '../../base/bounded-list.ts';

/** How many values are kept for a later turn: the newest. */
const MAX_KEPT = 100;
/** The largest late update that is kept, in characters of JSON, roughly. */
const MAX_LATE = 40_000;

/** Values for the next turn: they arrived while no turn ran, or found no item in their turn. */
export class UnplacedNews {
  readonly #things = new BoundedList({ values: MAX_KEPT, omits: 'first' });
  /** The last late update of each call that ended with its turn. */
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
