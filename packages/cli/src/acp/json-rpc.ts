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

/** The answer to a line that is no message. */
export const noMessage = (text: string): string =>
  readJson(text) === undefined
    ? line({ id: null, error: { code: -32_700, message: 'This line is no JSON.' } })
    : line({ id: null, error: { code: -32_600, message: 'This line is no JSON-RPC message.' } });

/** The most that the server takes in one message: its limit `acpMessageBytes`, which is too much to load for a number. */
export const mostBytes = 32 * 1024 * 1024;

/** The answer to a message that the server would not take; undefined if it does. */
export function tooLarge(text: string, { id = null }: Message): string | undefined {
  // No character has more than three bytes for each of its code units.
  if (text.length * 3 <= mostBytes) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes <= mostBytes) return undefined;
  const [has, most] = [bytes, mostBytes].map((size) => `${Math.ceil(size / 1024 / 1024)} MiB`);
  const message = `This message has ${has}, and at most ${most} are taken. Send less at once, or name a file by a link.`;
  return line({ id, error: { code: -32_600, message, data: { code: 'MESSAGE_TOO_LARGE' } } });
}

/** The answer to a request that nobody answers any more. */
export const lost = (id: Id, message: string): string =>
  line({ id, error: { code: -32_603, message, data: { code: 'SERVER_LOST' } } });
