import type { StreamIncident, Pace } from '../scripted-server/stream-incident.ts';
import type { Held } from '../scripted-server/script.ts';

/** A piece of text, or an incident between two pieces. */
export type Part = string | StreamIncident;

/** Text in one field of the delta. Which field contains reasoning depends on the server. */
export interface TextItem extends Pace {
  type: 'text';
  field: 'content' | 'reasoning_content' | 'reasoning' | 'refusal';
  parts: Part[];
}

/** How a server identifies a call in the pieces of its stream. */
export interface Naming {
  /**
   * The pieces that contain the call's id: the first (OpenAI), the second, all (`each`), none, or all with a new id
   * each (`fresh`, older vLLM).
   */
  ids?: 'first' | 'second' | 'each' | 'never' | 'fresh';
  /** The index that the pieces contain: the call's index among the calls (OpenAI), none, or 0 for every call. */
  index?: 'own' | 'none' | 'zero';
  /** Whether every piece contains the name, not only the first. */
  repeatsName?: boolean;
  /** Whether one piece contains the name and all arguments. */
  isWhole?: boolean;
  /** Whether the arguments are sent in one piece, as an object instead of JSON text. */
  asObject?: boolean;
}

export interface CallItem extends Pace, Naming {
  type: 'call';
  name: string;
  parts: Part[];
  callId: string | undefined;
}

/** Several calls whose pieces alternate. */
export interface InterleavedItem {
  type: 'interleaved';
  calls: CallItem[];
}

/** A chunk that is sent unchanged. It may be any value. */
export interface ChunkItem {
  type: 'chunk';
  chunk: unknown;
}

export type Item = TextItem | CallItem | InterleavedItem | ChunkItem;

export interface TokenUsage {
  input: number;
  cachedInput: number;
  output: number;
}

/** How the stream of an answer is written. */
export interface Manner {
  /** The chunk that contains the usage: the last chunk if the request asks for usage (OpenAI), each chunk, or none. */
  usagePlace?: 'asked' | 'each' | 'never';
  /** The reason in the last chunk; null for no reason. Default: `tool_calls` if there are calls, otherwise `stop`. */
  finishReason?: string | null;
  /** Whether the stream ends with `[DONE]`. Default: true. */
  isMarked?: boolean;
  /** The characters that end a line. Default: a line feed. */
  lineEnd?: '\n' | '\r\n';
  /** A comment that is sent before each event. */
  comment?: string;
  /** The number of bytes in each piece in which events are written. Pieces may split a character of several bytes. */
  pieceBytes?: number;
  /** Whether empty deltas are added, and deltas with empty or absent content. */
  hasEmpties?: boolean;
  /** An error object that is sent instead of the end of the stream. */
  error?: unknown;
  headers?: Record<string, string>;
}

export interface AnswerReply extends Manner {
  type: 'answer';
  items: Item[];
  usage: TokenUsage;
}

export interface ErrorReply {
  type: 'error';
  status: number;
  headers: Record<string, string>;
  /** The body: an object is sent as JSON, a text unchanged. */
  body: unknown;
}

export type ChatReply = AnswerReply | ErrorReply | Held<ChatReply>;

type Parts = string | Part[];

const listed = (parts: Parts): Part[] => (typeof parts === 'string' ? [parts] : parts);

export const text = (parts: Parts, pace: Pace = {}): TextItem => ({
  type: 'text',
  field: 'content',
  parts: listed(parts),
  ...pace,
});

/** Makes the model's reasoning, by default in the field that DeepSeek, vLLM and llama.cpp use. */
export const thinking = (
  parts: Parts,
  options: Pace & { field?: 'reasoning_content' | 'reasoning' } = {},
): TextItem => ({ type: 'text', field: 'reasoning_content', parts: listed(parts), ...options });

export const refusal = (parts: Parts, pace: Pace = {}): TextItem => ({
  type: 'text',
  field: 'refusal',
  parts: listed(parts),
  ...pace,
});

/** Makes a tool call, whose arguments are JSON or any text. By default, the server makes the id of the call. */
export const call = (
  name: string,
  input: Record<string, unknown> | Parts,
  { callId, ...options }: Pace & Naming & { callId?: string } = {},
): CallItem => ({
  type: 'call',
  name,
  parts:
    typeof input === 'string' || Array.isArray(input) ? listed(input) : [JSON.stringify(input)],
  callId,
  ...options,
});

/** Makes several calls whose pieces alternate. */
export const interleaved = (...calls: CallItem[]): InterleavedItem => ({
  type: 'interleaved',
  calls,
});

/** Makes a chunk that is sent unchanged. It may be any value. */
export const chunk = (value: unknown): ChunkItem => ({ type: 'chunk', chunk: value });

/** Makes one complete answer of the model. If `items` is only a text, it is the answer's content. */
export const answer = (
  items: string | Item | Item[],
  { usage, ...manner }: Manner & { usage?: Partial<TokenUsage> } = {},
): AnswerReply => ({
  type: 'answer',
  items: typeof items === 'string' ? [text(items)] : Array.isArray(items) ? items : [items],
  usage: { input: 100, cachedInput: 40, output: 20, ...usage },
  ...manner,
});

/** Makes an HTTP error in OpenAI's format. */
export const httpError = (
  status: number,
  message = `scripted error ${status}`,
  options: { code?: string; type?: string; param?: string; headers?: Record<string, string> } = {},
): ErrorReply => {
  const { code = null, type = 'invalid_request_error', param = null, headers = {} } = options;
  return { type: 'error', status, headers, body: { error: { message, type, param, code } } };
};

/** Makes an HTTP error in another server's format. */
export const otherError = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): ErrorReply => ({ type: 'error', status, headers, body });
