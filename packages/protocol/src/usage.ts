import { z } from 'zod';

/**
 * The token counts of one turn (seed 000), or the counts that an agent reports for the session. `inputTokens` counts
 * all input tokens, as OpenTelemetry's `gen_ai.usage.input_tokens` does. The count includes the tokens read from the
 * model's cache (`cacheReadInputTokens`) and the tokens written to it (`cacheCreationInputTokens`), so do not add these
 * counts again. For turns of Claude Code that were stored before 29 November 2026, `inputTokens` excludes the cache's
 * tokens. `costUsd` is the session's total so far in US dollars. The agent's context contains `contextTokens` tokens;
 * it has room for `contextWindow` tokens.
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
