/**
 * The functions of JSON-RPC that the relay needs to pass on messages, and to respond in place of a server that cannot
 * be reached.
 */

export type JsonRpcId = string | number | null;

export interface JsonRpcMessage {
  id?: JsonRpcId;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

/** Returns a message that the relay itself sends, as JSON. */
export const toLine = (message: JsonRpcMessage): string =>
  JSON.stringify({ jsonrpc: '2.0', ...message });

/** Parses one message; undefined if the text is not a message. */
export function readMessage(text: string): JsonRpcMessage | undefined {
  const value = readJson(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? value : undefined;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the response to a line that is not a message. */
export const invalidMessageResponse = (text: string): string =>
  readJson(text) === undefined
    ? toLine({ id: null, error: { code: -32_700, message: 'This line is not JSON.' } })
    : toLine({
        id: null,
        error: { code: -32_600, message: 'This line is not a JSON-RPC message.' },
      });

/**
 * The largest message that the server accepts. This constant is a copy of the server's limit `acpMessageBytes`, because
 * importing the limit would load too much code.
 */
export const maxMessageBytes = 32 * 1024 * 1024;

/** Returns the response to a message that is too large for the server. Returns undefined for a smaller message. */
export function tooLargeResponse(text: string, { id = null }: JsonRpcMessage): string | undefined {
  // Count bytes only for long texts: a UTF-16 code unit takes at most three bytes in UTF-8.
  if (text.length * 3 <= maxMessageBytes) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxMessageBytes) return undefined;
  const [has, most] = [bytes, maxMessageBytes].map(
    (size) => `${Math.ceil(size / 1024 / 1024)} MiB`,
  );
  const message = `This message has ${has}; the limit is ${most}. Send less at once, or link to a file instead.`;
  return toLine({ id, error: { code: -32_600, message, data: { code: 'MESSAGE_TOO_LARGE' } } });
}

/** Returns the response to a request whose server was lost. */
export const serverLostResponse = (id: JsonRpcId, message: string): string =>
  toLine({ id, error: { code: -32_603, message, data: { code: 'SERVER_LOST' } } });
