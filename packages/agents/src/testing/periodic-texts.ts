/** A text that repeats a pattern, and the chunks in which an agent sends the text. */
export interface PeriodicText {
  /** The number of characters in the repeated part. */
  period: number;
  /** Characters of a chunk. */
  size: number;
  text: string;
  chunks: string[];
}

const periods = Array.from({ length: 60 }, (_, index) => index + 1);
const sizes = Array.from({ length: 10 }, (_, index) => index + 1);
const sayings = ['slow ', 'The fox. ', 'Row, row, row your boat\n', 'a\n\n'];

/**
 * Texts with every period from 1 to 60, in chunks of 1 to 10 characters: repeated words, sentences, lines and
 * paragraphs.
 */
export const periodicTexts: readonly PeriodicText[] = periods.flatMap((period) =>
  sizes.map((size) => {
    const saying = sayings[(period + size) % sayings.length] ?? '';
    const text = saying.repeat(period).slice(0, period).repeat(5);
    const count = Math.ceil(text.length / size);
    const chunks = Array.from({ length: count }, (_, at) => text.slice(at * size, (at + 1) * size));
    return { period, size, text, chunks };
  }),
);
