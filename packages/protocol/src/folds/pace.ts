/** Decides when a growing text is emitted: the batch gradient of seed 000 (AC-5.2). */

export interface Pace {
  /** The number of thresholds that were crossed; it is also the index of the next threshold in the gradient. */
  readonly batchIndex: number;
  /** The number of tokens since the last emission. */
  readonly tokens: number;
  /** Whether the text so far ends inside a word, which the next delta may continue. */
  readonly inWord: boolean;
  /** The number of characters that the text had at its last emission. */
  readonly shown: number;
  /**
   * The time, in milliseconds since the epoch, by which buffered text must be emitted; absent if nothing is buffered.
   */
  readonly flushAt?: number;
}

export const startPace: Pace = { batchIndex: 0, tokens: 0, inWord: false, shown: 0 };

/** The length, in characters, above which a text is emitted again only after the text has grown by a certain share. */
const longText = 32 * 1024;
const worthwhile = 1.25;

/**
 * Returns whether a whole text is emitted again. All emissions of a long text together are only a few times as long as
 * the text.
 */
export function isWorthShowing({ shown }: Pace, length: number): boolean {
  return length <= longText || length >= shown * worthwhile;
}

/**
 * The default token counter: counts words between white space. The count is exact even for a text that arrives in
 * deltas, wherever the deltas cut words.
 */
export function countWords(text: string): number {
  let words = 0;
  // Finds one match at a time, since a list of all matches would be many times as large as the text.
  for (const word = /\S+/g; word.test(text);) words += 1;
  return words;
}

/**
 * Counts the tokens of one delta, in time proportional to the delta's length. For a `tokenCounter` other than
 * `countWords` the deltas are counted separately: the sum is exact if the counter is additive (characters / 4),
 * otherwise it is an estimate.
 */
export function addText(pace: Pace, text: string, tokenCounter: (text: string) => number): Pace {
  if (text === '') return pace;
  const continues = tokenCounter === countWords && pace.inWord && /^\S/.test(text);
  const tokens = pace.tokens + tokenCounter(text) - (continues ? 1 : 0);
  return { ...pace, tokens, inWord: /\S/.test(text.at(-1) ?? '') };
}

/**
 * Returns the number of thresholds that the tokens since the last emission have crossed, one after another. Each
 * threshold must be exceeded (TC-5.2c, TC-5.2d); the last threshold is used repeatedly (TC-5.2e).
 */
export function crossedThresholds(pace: Pace, gradient: readonly number[]): number {
  let crossed = 0;
  let sum = thresholdAt(gradient, pace.batchIndex);
  while (pace.tokens > sum) {
    crossed += 1;
    sum += thresholdAt(gradient, pace.batchIndex + crossed);
  }
  return crossed;
}

/** Returns the pace directly after an emission of a text with `shown` characters: nothing is buffered. */
export function resetPace(pace: Pace, crossed: number, shown: number): Pace {
  return { batchIndex: pace.batchIndex + crossed, tokens: 0, inWord: pace.inWord, shown };
}

function thresholdAt(gradient: readonly number[], index: number): number {
  return gradient[Math.min(index, gradient.length - 1)] ?? Infinity;
}
