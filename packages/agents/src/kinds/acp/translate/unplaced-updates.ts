import { sizeOf } from '@liminal/protocol';
import { BoundedList } from '../../../base/bounded-list.ts';

/** How many values are kept for a later turn: the newest. */
const maxUnplaced = 100;
/** The largest late update that is kept, in characters of JSON, roughly. */
const maxLateSize = 40_000;

/** Values for the next turn: they arrived while no turn ran, or found no item in their turn. */
export class UnplacedUpdates {
  readonly #values = new BoundedList({ values: maxUnplaced, omits: 'first' });
  /** The last late update of each call that ended with its turn. */
  readonly #late = new Map<string, unknown>();

  add(...values: unknown[]): void {
    for (const value of values) this.#values.add(value);
  }

  late(callId: string, update: unknown): void {
    if (this.#late.size >= maxUnplaced && !this.#late.has(callId)) return;
    const fits = sizeOf(update, maxLateSize) <= maxLateSize;
    this.#late.set(callId, fits ? update : { toolCallId: callId, omitted: 1 });
  }

  take(): unknown[] {
    for (const update of this.#late.values()) this.#values.add(update);
    this.#late.clear();
    return this.#values.take();
  }
}
