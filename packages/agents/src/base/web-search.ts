/** The shape of a web search's call and results for people, the same for every agent and model provider. */
import type { OutputItem } from '@liminal/protocol';
import { z } from 'zod';
import { oneLine } from './titles.ts';

/** An action on the web. */
export interface WebAction {
  kind: 'search' | 'open' | 'find';
  query?: string | undefined;
  queries?: readonly string[] | undefined;
  url?: string | undefined;
  /** The text to find in a page. */
  pattern?: string | undefined;
}

type CallItem = Extract<OutputItem, { type: 'function_call' }>;

/** Returns the call's fields for a web search, opening a page, or finding text in a page. */
export function webSearchCall(
  action: WebAction,
): Required<Pick<CallItem, 'name' | 'kind' | 'title' | 'arguments'>> {
  const { query, queries, url, pattern } = action;
  const input = {
    ...(query !== undefined && { query }),
    ...(queries !== undefined && queries.length > 1 && { queries }),
    ...(url !== undefined && { url }),
    ...(pattern !== undefined && { pattern }),
  };
  return {
    name: 'web_search',
    kind: 'fetch',
    title: titleOf(action),
    arguments: JSON.stringify(input),
  };
}

function titleOf({ kind, query = '', queries = [], url, pattern }: WebAction): string {
  if (kind === 'open' && url !== undefined) return `Open ${oneLine(url)}`;
  if (kind === 'find') {
    const where = url === undefined ? 'a page' : oneLine(url);
    return pattern === undefined ? `Search ${where}` : `Find “${oneLine(pattern)}” in ${where}`;
  }
  const all = queries.length > 0 ? queries : [query];
  const words = all.filter((one) => one !== '').map((one) => `“${oneLine(one)}”`);
  return words.length === 0 ? 'Search the web' : `Search the web for ${words.join(', ')}`;
}

const SearchResult = z.looseObject({ title: z.string().nullish(), url: z.string() });

/**
 * Returns the results of a search as text. The text of a result is its title and address, or its JSON if it has no
 * address.
 */
export const webResults = (results: readonly unknown[]): string =>
  results.map(resultLine).join('\n\n');

function resultLine(result: unknown): string {
  const { title, url } = SearchResult.safeParse(result).data ?? {};
  if (url === undefined) return typeof result === 'string' ? result : JSON.stringify(result);
  return title == null || title === '' ? url : `${title}\n${url}`;
}
