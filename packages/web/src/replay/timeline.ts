import type { RecordedStep } from './recording.ts';

/** The longest silence on the timeline, in ms. Longer silences are shortened to this. */
const maxPauseMs = 2_000;

/** Maps each step to its position on the timeline (ms from the timeline's start), and back. */
export class Timeline {
  readonly #steps: readonly RecordedStep[];
  /** The position of each step. */
  readonly #positions: readonly number[];

  /**
   * @param playsFullPauses - Whether a long silence is played at its full length.
   */
  constructor(steps: readonly RecordedStep[], playsFullPauses: boolean) {
    this.#steps = steps;
    let place = 0;
    this.#positions = steps.map(({ at }, index) => {
      const silence = at - (steps[index - 1]?.at ?? at);
      place += playsFullPauses ? silence : Math.min(silence, maxPauseMs);
      return place;
    });
  }

  /** The timeline's length, in ms. */
  get length(): number {
    return this.#positions.at(-1) ?? 0;
  }

  /** Returns the position of the last of the first `count` steps; 0 before the first step. */
  positionAfter(count: number): number {
    return this.#positions[count - 1] ?? 0;
  }

  /** Returns the number of steps at or before a position. */
  countAt(place: number): number {
    return firstAfter(this.#positions, place, (one) => one);
  }

  /** Returns the position of a moment (ms since the epoch), interpolated between two steps. */
  positionOf(moment: number): number {
    const next = firstAfter(this.#steps, moment, ({ at }) => at);
    const [before, after] = [this.#steps[next - 1], this.#steps[next]];
    const from = this.#positions[next - 1] ?? 0;
    if (!before || !after) return from;
    const to = this.#positions[next] ?? from;
    return from + ((to - from) * (moment - before.at)) / (after.at - before.at);
  }
}

/** Returns the index of the first element of a sorted list that is greater than the value. */
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
