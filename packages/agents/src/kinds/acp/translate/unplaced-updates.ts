import { sizeOf } from '@liminal/protocol';
import { BoundedList } from '../../../base/bounded-list.ts';

/** How many values, the newest ones, are kept for a later turn. */
const maxUnplaced = 100;
/** The size of the largest late update that is kept, in about characters of JSON. */
const maxLateSize = 40_000;

/** Values for the next turn: values that arrived while no turn ran, and values that no item of their turn contains. */
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
