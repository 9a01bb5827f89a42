import type { StreamIncident, Pace } from '../scripted-server/stream-incident.ts';
import type { Held } from '../scripted-server/script.ts';

/** A piece of text, or an incident between two pieces. */
export type Part = string | StreamIncident;

/** Text in one field of the delta. The field for reasoning depends on the server. */
export interface TextItem extends Pace {
  type: 'text';
  field: 'content' | 'reasoning_content' | 'reasoning' | 'refusal';
  parts: Part[];
}

/** How a server names a call in the pieces of its stream. */
export interface Naming {
  /**
   * The pieces that have the call's id: the first (OpenAI), the second, all, none, or each with a new id (older vLLM).
   */
  ids?: 'first' | 'second' | 'each' | 'never' | 'fresh';
  /** The call's index among the calls (OpenAI), none, or 0 for every call. */
  index?: 'own' | 'none' | 'zero';
  /** Sends the name in every piece, not only in the first. */
  repeatsName?: boolean;
  /** Sends name and arguments in one piece. */
  isWhole?: boolean;
  /** Sends the arguments in one piece, as an object instead of JSON text. */
  asObject?: boolean;
}

export interface CallItem extends Pace, Naming {
  type: 'call';
  name: string;
  parts: Part[];
  callId: string | undefined;
}

/** Calls whose pieces alternate. */
export interface InterleavedItem {
  type: 'interleaved';
  calls: CallItem[];
}

/** A chunk, or any other value, unchanged. */
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

/** How the stream is written. */
export interface Manner {
  /** The chunk that contains usage: the last one if the request asks for usage (OpenAI), each chunk, or none. */
  usagePlace?: 'asked' | 'each' | 'never';
  /** Null: no reason. Default: `tool_calls` if there are calls, else `stop`. */
  finishReason?: string | null;
  /** Whether the stream ends with `[DONE]`. Default: true. */
  isMarked?: boolean;
  /** What ends a line. Default: a line feed. */
  lineEnd?: '\n' | '\r\n';
  /** Sends a comment before each event. */
  comment?: string;
  /** Writes each event in pieces of this many bytes, which also split characters of several bytes. */
  pieceBytes?: number;
  /** Adds empty deltas, and deltas with empty or absent content. */
  hasEmpties?: boolean;
  /** Sends an error object in place of the end of the stream. */
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
  /** The body: an object is sent as JSON, a text as it is. */
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

/** The model's reasoning, by default in the field that DeepSeek, vLLM and llama.cpp use. */
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

/** A tool call, with JSON arguments or any text. By default, the server makes the id of the call. */
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

/** Calls whose pieces alternate. */
export const interleaved = (...calls: CallItem[]): InterleavedItem => ({
  type: 'interleaved',
  calls,
});

/** A chunk, or any other value, unchanged. */
export const chunk = (value: unknown): ChunkItem => ({ type: 'chunk', chunk: value });

/** One complete answer of the model; a text alone is its content. */
export const answer = (
  items: string | Item | Item[],
  { usage, ...manner }: Manner & { usage?: Partial<TokenUsage> } = {},
): AnswerReply => ({
  type: 'answer',
  items: typeof items === 'string' ? [text(items)] : Array.isArray(items) ? items : [items],
  usage: { input: 100, cachedInput: 40, output: 20, ...usage },
  ...manner,
});

/** An HTTP error in OpenAI's format. */
export const httpError = (
  status: number,
  message = `scripted error ${status}`,
  options: { code?: string; type?: string; param?: string; headers?: Record<string, string> } = {},
): ErrorReply => {
  const { code = null, type = 'invalid_request_error', param = null, headers = {} } = options;
  return { type: 'error', status, headers, body: { error: { message, type, param, code } } };
};

/** An HTTP error in another server's format. */
export const otherError = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): ErrorReply => ({ type: 'error', status, headers, body });
