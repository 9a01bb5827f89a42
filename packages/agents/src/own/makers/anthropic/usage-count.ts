import type { Usage } from '@liminal/protocol';
import { isRecord } from '../../../base/parse-line.ts';

const fields = {
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
  cache_read_input_tokens: 'cacheReadInputTokens',
  cache_creation_input_tokens: 'cacheCreationInputTokens',
} as const;

/**
 * Counts the tokens of one answer. Each message of the API reports the total so far. A field that a later report lacks,
 * or has as null, keeps its value. The API counts input that is read from or written to its cache separately; Liminal's
 * `inputTokens` includes that input.
 */
export class UsageCount {
  #counted: Partial<Usage> = {};
  /** The number of web searches by the server; undefined if the server does not report the number. */
  searches: number | undefined;

  /** @param usage - The `usage` of `message_start` or `message_delta`. */
  read(usage: unknown): void {
    if (!isRecord(usage)) return;
    this.#readSearches(usage['server_tool_use']);
    for (const [native, name] of Object.entries(fields)) {
      const count = usage[native];
      if (typeof count === 'number' && count >= 0) this.#counted[name] = count;
    }
  }

  #readSearches(tools: unknown): void {
    const count = isRecord(tools) ? tools['web_search_requests'] : undefined;
    if (typeof count === 'number' && count >= 0) this.searches = count;
  }

  /** Undefined if the server has reported no token counts. */
  get usage(): Usage | undefined {
    if (Object.keys(this.#counted).length === 0) return undefined;
    const { inputTokens = 0, ...counted } = this.#counted;
    const { cacheReadInputTokens: read = 0, cacheCreationInputTokens: written = 0 } = counted;
    return { outputTokens: 0, ...counted, inputTokens: inputTokens + read + written };
  }
}
