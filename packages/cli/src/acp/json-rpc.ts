/** As much of JSON-RPC as is needed to pass its messages on, and to answer for a side that is not there. */

export type Id = string | number | null;

export interface Message {
  id?: Id;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

/** A message of ours for one side. */
export const line = (message: Message): string => JSON.stringify({ jsonrpc: '2.0', ...message });

/** One message; undefined if the text is none. */
export function readMessage(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? value : undefined;
  } catch {
    return undefined;
  }
}

export const parseError = line({
  id: null,
  error: { code: -32_700, message: 'This line is no JSON-RPC message.' },
});

/** The answer to a request that nobody answers any more. */
export const lost = (id: Id, message: string): string =>
  line({ id, error: { code: -32_603, message, data: { code: 'SERVER_LOST' } } });
