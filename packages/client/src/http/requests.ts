import {
  type Answer,
  fillPath,
  type Methods,
  type Operation,
  operations,
  partsOf,
} from '@liminal/protocol';
import { ApiError } from './api-error.ts';
import { call, type HttpOptions } from './call.ts';

type Search = typeof operations.search;

/** All HTTP requests of the protocol's table. Each rejects with `ApiError`. */
export interface Requests extends Omit<Methods<typeof operations>, 'search'> {
  /**
   * Titles of sessions and items that contain every word of `text`; at most `limit` (default 20, maximum 100).
   * `signal` cancels the search.
   */
  search(
    text: string,
    options?: { projectId?: string; limit?: number; signal?: AbortSignal },
  ): Promise<Answer<Search>>;
}

/** Typed requests: answers are checked against the protocol's schemas. */
export function createRequests(options: HttpOptions): Requests {
  const methods = Object.entries(operations).map(([name, operation]) => [
    name,
    (...args: unknown[]) => ask(options, operation, args),
  ]);
  const requests = Object.fromEntries(methods) as Methods<typeof operations>;
  return {
    ...requests,
    search: (text, { signal, ...rest } = {}) =>
      ask(options, operations.search, [text, rest], signal) as Promise<Answer<Search>>,
  };
}

async function ask(
  options: HttpOptions,
  operation: Operation,
  args: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  const { method, answer, unwrap, query } = operation;
  const { ids, content } = partsOf(operation, args);
  const path = fillPath(operation, ids) + (query ? search(content) : '');
  const given = await call(options, method, path, query ? undefined : content, signal);
  if (!answer) return undefined;
  const parsed = answer.safeParse(given);
  if (!parsed.success) {
    const message = `The server's answer to ${path} has a wrong shape.`;
    throw new ApiError('UNEXPECTED_ANSWER', 200, message, { cause: parsed.error });
  }
  return unwrap === undefined ? parsed.data : (parsed.data as Record<string, unknown>)[unwrap];
}

function search(values: object = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) given.set(name, String(value));
  }
  return given.size === 0 ? '' : `?${given.toString()}`;
}
