/** How often the upsert fold emits (seed 000, Upsert Processor Configuration). */
import { LiminalError } from '../errors.ts';
import { countWords } from './pace.ts';

export interface UpsertFoldConfig {
  /** Tokens between emissions of one text: strictly exceeded, last entry repeating. */
  batchGradientTokens: readonly number[];
  /** Buffered text is emitted when this many milliseconds have passed since the last delta. */
  batchTimeoutMs: number;
  /** Counts the tokens of a text. Any but the default is applied to each delta alone. */
  tokenCounter: (text: string) => number;
  /**
   * `threshold` (seed 000): a text is first shown when the first threshold is exceeded. `immediate` (seed 003): its
   * first content is shown at once, in addition to the batch, which is unchanged.
   */
  firstEmission: 'threshold' | 'immediate';
  /**
   * For live readers: a text's first content is shown at once and each delta after it is an `append`; nothing is
   * buffered. A running call is shown again when its arguments, patches or output arrive.
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

/** Throws LiminalError `INVALID_UPSERT_CONFIG` for a gradient that would never end a batch, or never begin one. */
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
