/** When a growing text is worth an emission: the batch gradient of seed 000 (AC-5.2). */

export interface Pace {
  /** How many thresholds have been crossed: the place in the gradient. */
  readonly batchIndex: number;
  /** Tokens since the last emission. */
  readonly tokens: number;
  /** Whether the text so far ends inside a word, which the next delta may go on with. */
  readonly inWord: boolean;
  /** Characters of the text as it was emitted last. */
  readonly shown: number;
  /** When what is buffered is emitted at the latest, in milliseconds since the epoch; absent when nothing is. */
  readonly flushAt?: number;
}

export const startPace: Pace = { batchIndex: 0, tokens: 0, inWord: false, shown: 0 };

/** A text that is longer than this (characters) is emitted again only once it has grown by a part of itself. */
const longText = 32 * 1024;
const worthwhile = 1.25;

/** Whether to emit the whole of a text again: all emissions of a long one together are a few times as long as it is. */
export function isWorthShowing({ shown }: Pace, length: number): boolean {
  return length <= longText || length >= shown * worthwhile;
}

/** The default token counter: words between white space. Exact over deltas too, however they cut the words. */
export function countWords(text: string): number {
  let words = 0;
  // Finds one after the other: a list of them all would be many times as large as the text.
  for (const word = /\S+/g; word.test(text);) words += 1;
  return words;
}

/**
 * Counts one delta; costs O(delta). A `tokenCounter` other than `countWords` is applied to each delta alone: exact if
 * it is additive (characters / 4), an estimate else.
 */
export function addText(pace: Pace, text: string, tokenCounter: (text: string) => number): Pace {
  if (text === '') return pace;
  const continues = tokenCounter === countWords && pace.inWord && /^\S/.test(text);
  const tokens = pace.tokens + tokenCounter(text) - (continues ? 1 : 0);
  return { ...pace, tokens, inWord: /\S/.test(text.at(-1) ?? '') };
}

/**
 * How many thresholds the tokens since the last emission have crossed, one after the other, each strictly exceeded
 * (TC-5.2c, TC-5.2d); after the last entry it repeats (TC-5.2e).
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

/** After an emission of so many characters: nothing is buffered. */
export function resetPace(pace: Pace, crossed: number, shown: number): Pace {
  return { batchIndex: pace.batchIndex + crossed, tokens: 0, inWord: pace.inWord, shown };
}

function thresholdAt(gradient: readonly number[], index: number): number {
  return gradient[Math.min(index, gradient.length - 1)] ?? Infinity;
}
