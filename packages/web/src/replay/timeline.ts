import type { Step } from './recording.ts';

/** A silence that is longer than this is shortened to it (ms). */
const SILENCE_MS = 2_000;

/** Where each step is on the line that is played (ms from its beginning), and back. */
export class Timeline {
  readonly #steps: readonly Step[];
  /** Of each step. */
  readonly #places: readonly number[];

  /** @param keepsSilences - Whether long silences last as long as they did. */
  constructor(steps: readonly Step[], keepsSilences: boolean) {
    this.#steps = steps;
    let place = 0;
    this.#places = steps.map(({ at }, index) => {
      const silence = at - (steps[index - 1]?.at ?? at);
      place += keepsSilences ? silence : Math.min(silence, SILENCE_MS);
      return place;
    });
  }

  /** In ms. */
  get length(): number {
    return this.#places.at(-1) ?? 0;
  }

  /** Where the last of the first `count` steps is; 0 before the first. */
  placeAfter(count: number): number {
    return this.#places[count - 1] ?? 0;
  }

  /** How many steps have been made at a place. */
  countAt(place: number): number {
    return firstAfter(this.#places, place, (one) => one);
  }

  /** Where a moment (ms since the epoch) is: between two steps in proportion. */
  placeOf(moment: number): number {
    const next = firstAfter(this.#steps, moment, ({ at }) => at);
    const [before, after] = [this.#steps[next - 1], this.#steps[next]];
    const from = this.#places[next - 1] ?? 0;
    if (!before || !after) return from;
    const to = this.#places[next] ?? from;
    return from + ((to - from) * (moment - before.at)) / (after.at - before.at);
  }
}

/** The index of the first value that is greater; the list is in order. */
function firstAfter<T>(list: readonly T[], value: number, of: (one: T) => number): number {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const one = list[middle];
    if (one !== undefined && of(one) <= value) from = middle + 1;
    else to = middle;
  }
  return from;
}
