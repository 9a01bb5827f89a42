import type { Step } from './recording.ts';

/** Longer silences (ms) are shortened to this. */
const SILENCE_MS = 2_000;

/** Maps each step to its place on the timeline (ms from its beginning), and back. */
export class Timeline {
  readonly #steps: readonly Step[];
  /** The place of each step. */
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

  /** The timeline's length (ms). */
  get length(): number {
    return this.#places.at(-1) ?? 0;
  }

  /** The place of the last of the first `count` steps; 0 before the first step. */
  placeAfter(count: number): number {
    return this.#places[count - 1] ?? 0;
  }

  /** How many steps are at or before a place. */
  countAt(place: number): number {
    return firstAfter(this.#places, place, (one) => one);
  }

  /** The place of a moment (ms since the epoch), interpolated between two steps. */
  placeOf(moment: number): number {
    const next = firstAfter(this.#steps, moment, ({ at }) => at);
    const [before, after] = [this.#steps[next - 1], this.#steps[next]];
    const from = this.#places[next - 1] ?? 0;
    if (!before || !after) return from;
    const to = this.#places[next] ?? from;
    return from + ((to - from) * (moment - before.at)) / (after.at - before.at);
  }
}

/** The index of the first greater value in a sorted list. */
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
