import { z } from 'zod';

/**
 * Token counts of one turn (seed 000), and an agent's counts of the session.
 * `inputTokens` are all of the input, with the tokens that came from the model's cache (`cacheReadInputTokens`) and those
 * that were put there (`cacheCreationInputTokens`), as OpenTelemetry's `gen_ai.usage.input_tokens`; do not add them again.
 * Turns of Claude Code that were stored before 29 November 2026 have only the other tokens in `inputTokens`. `costUsd` is the session's total so far in US dollars; `contextTokens` of `contextWindow` tokens are in use.
 */
export const Usage = z.object({
  inputTokens: z.number().nonnegative(),
  outputTokens: z.number().nonnegative(),
  cacheReadInputTokens: z.number().nonnegative().optional(),
  cacheCreationInputTokens: z.number().nonnegative().optional(),
  costUsd: z.number().nonnegative().optional(),
  contextTokens: z.number().nonnegative().optional(),
  contextWindow: z.number().nonnegative().optional(),
});
export type Usage = z.infer<typeof Usage>;
