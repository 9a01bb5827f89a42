/** Settings for how often the upsert fold emits (seed 000, Upsert Processor Configuration). */
import { LiminalError } from '../errors.ts';
import { countWords } from './pace.ts';

export interface UpsertFoldConfig {
  /**
   * The number of tokens between two emissions of one text. Each number of tokens must be exceeded before the next
   * emission; the last number repeats.
   */
  batchGradientTokens: readonly number[];
  /** The time, in ms, for which buffered text waits for another delta before it is emitted. */
  batchTimeoutMs: number;
  /** Counts the tokens of a text. A counter other than the default counts each delta separately. */
  tokenCounter: (text: string) => number;
  /**
   * `threshold` (seed 000): a text is emitted only once the text exceeds the first threshold. `immediate` (seed 003): a
   * text's first content is emitted at once, in addition to the batches, which do not change.
   */
  firstEmission: 'threshold' | 'immediate';
  /**
   * For live readers: a text's first content is emitted at once, each later delta is an `append`, and nothing is
   * buffered. A running call is emitted again whenever its arguments, patches or output arrive.
   */
  appends: boolean;
}

export const defaultUpsertFoldConfig: UpsertFoldConfig = {
  batchGradientTokens: [10, 20, 40, 80, 120],
  batchTimeoutMs: 1000,
  tokenCounter: countWords,
  firstEmission: 'threshold',
  appends: false,
};

/** Throws LiminalError `INVALID_UPSERT_CONFIG` for a gradient with which a batch would never end or never begin. */
export function upsertFoldConfig(overrides: Partial<UpsertFoldConfig>): UpsertFoldConfig {
  const config = { ...defaultUpsertFoldConfig, ...overrides };
  const gradient = config.batchGradientTokens;
  if (gradient.length === 0 || !gradient.every((threshold) => threshold > 0)) {
    throw new LiminalError(
      'INVALID_UPSERT_CONFIG',
      `batchGradientTokens must hold at least one number, all above 0; it is [${gradient.join(', ')}].`,
    );
  }
  return config;
}
