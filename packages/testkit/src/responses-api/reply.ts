import type { StreamIncident, Pace } from '../scripted-server/stream-incident.ts';
import type { Held } from '../scripted-server/script.ts';

/** The contents of an output item: pieces of its text, and incidents that happen between them. */
export type Part = string | StreamIncident;

export interface MessageItem extends Pace {
  type: 'message';
  parts: Part[];
  /** Whether the text is a refusal. */
  isRefusal?: boolean;
  /** The citations of the text. */
  annotations?: Record<string, unknown>[];
}

/** The visible part of the model's reasoning: a summary in one or more parts, and, for open models, the whole text. */
export interface ReasoningItem extends Pace {
  type: 'reasoning';
  summaries: Part[][];
  content: Part[];
  /** Reasoning that only the API can read; null if the client has not requested it. */
  encrypted: string | null;
}

/** A call whose arguments are JSON, or, for a `custom` tool, any text. */
export interface CallItem extends Pace {
  type: 'function_call' | 'custom_tool_call';
  name: string;
  parts: Part[];
  /** The id of the call. If it is undefined, the server makes the id. */
  callId: string | undefined;
  /** The namespace of the tool, if tools are grouped. */
  namespace?: string;
}

/** A tool that the API runs itself. Its item is first announced, and then sent completely. */
export interface HostedItem extends Pace {
  type: 'web_search_call';
  /** The fields that the item has only when the tool is done. */
  result: Record<string, unknown>;
  /** The incidents between the announcement and the complete item. */
  parts: StreamIncident[];
}

export type OutputItem = MessageItem | ReasoningItem | CallItem | HostedItem;

export interface TokenUsage {
  input: number;
  cachedInput: number;
  output: number;
  reasoning: number;
}

/**
 * The end of an answer: the answer is complete, incomplete (for a reason such as `max_output_tokens`), or ends with an
 * error.
 */
export type Ending =
  | { status: 'completed' }
  | { status: 'incomplete'; reason: string }
  | { status: 'failed'; code: string; message: string }
  /** The stream ends with an `error` event, as if the API had failed in the middle. */
  | { status: 'error'; code: string | null; message: string };

export interface AnswerReply {
  type: 'answer';
  items: OutputItem[];
  usage: TokenUsage;
  ending: Ending;
  /** How many web searches are billed; undefined if the API does not report the number. */
  searches: number | undefined;
  headers: Record<string, string>;
}

export interface ErrorReply {
  type: 'error';
  status: number;
  headers: Record<string, string>;
  error: { type: string; code: string | null; param: string | null; message: string };
}

export type ModelReply = AnswerReply | ErrorReply | Held<ModelReply>;

type Parts = string | Part[];

const listed = (parts: Parts): Part[] => (typeof parts === 'string' ? [parts] : parts);

export const message = (
  parts: Parts,
  options: Pace & Pick<MessageItem, 'annotations'> = {},
): MessageItem => ({
  type: 'message',
  parts: listed(parts),
  ...options,
});

/** Makes a message with a refusal: the model declines to answer. */
export const refusal = (parts: Parts, pace: Pace = {}): MessageItem => ({
  ...message(parts, pace),
  isRefusal: true,
});

/** Makes reasoning. Each list (or text) is one part of the summary; `content` is the reasoning itself. */
export const reasoning = (
  summaries: Parts[],
  {
    content = [],
    encrypted = 'c2NyaXB0ZWQ=',
    ...pace
  }: Pace & { content?: Parts; encrypted?: string | null } = {},
): ReasoningItem => ({
  type: 'reasoning',
  summaries: summaries.map(listed),
  content: listed(content),
  encrypted,
  ...pace,
});

/** Makes a web search of the API. `action` is the API's own description, such as `{type: 'search', query}`. */
export const webSearch = (
  action: Record<string, unknown>,
  parts: StreamIncident[] = [],
): HostedItem => ({
  type: 'web_search_call',
  result: { action },
  parts,
});

/**
 * The options of a call. The incidents in `before` happen after the call has been announced and before its arguments
 * arrive.
 */
type CallOptions = Pace & { callId?: string; namespace?: string; before?: Part[] };

const call = (
  type: CallItem['type'],
  name: string,
  input: string,
  { callId, before = [], ...pace }: CallOptions,
): CallItem => ({ type, name, callId, parts: [...before, input], ...pace });

/** Makes a call whose arguments are JSON. By default, the server makes the id of the call. */
export const functionCall = (
  name: string,
  input: Record<string, unknown>,
  options: CallOptions = {},
): CallItem => call('function_call', name, JSON.stringify(input), options);

/** Makes a call of a tool that accepts any text. */
export const customCall = (name: string, input: string, options: CallOptions = {}): CallItem =>
  call('custom_tool_call', name, input, options);

/** Makes one complete answer of the model. If `items` is only a text, it is a message. */
export const answer = (
  items: string | OutputItem | OutputItem[],
  options: {
    usage?: Partial<TokenUsage>;
    ending?: Ending;
    searches?: number;
    headers?: Record<string, string>;
  } = {},
): AnswerReply => ({
  type: 'answer',
  items: typeof items === 'string' ? [message(items)] : Array.isArray(items) ? items : [items],
  usage: { input: 100, cachedInput: 40, output: 20, reasoning: 5, ...options.usage },
  ending: options.ending ?? { status: 'completed' },
  searches: options.searches,
  headers: options.headers ?? {},
});

/** Makes an answer that ends, after `items`, with an error in its stream (`response.failed`). */
export const failed = (
  code: string,
  errorMessage: string,
  items: OutputItem | OutputItem[] = [],
): AnswerReply => answer(items, { ending: { status: 'failed', code, message: errorMessage } });

/** Makes an answer whose stream ends, after `items`, with an `error` event. */
export const errorEvent = (
  code: string | null,
  errorMessage: string,
  items: OutputItem | OutputItem[] = [],
): AnswerReply => answer(items, { ending: { status: 'error', code, message: errorMessage } });

/** Makes an answer that ends before it is complete (`response.incomplete`). */
export const incomplete = (
  reason: string,
  items: string | OutputItem | OutputItem[],
): AnswerReply => answer(items, { ending: { status: 'incomplete', reason } });

const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  403: 'invalid_request_error',
  404: 'invalid_request_error',
  429: 'requests',
};

/** Makes an HTTP error in the format of the Responses API. */
export const httpError = (
  status: number,
  errorMessage = `scripted error ${status}`,
  options: { code?: string; param?: string; headers?: Record<string, string> } = {},
): ErrorReply => ({
  type: 'error',
  status,
  headers: options.headers ?? {},
  error: {
    type: errorTypes[status] ?? 'server_error',
    code: options.code ?? null,
    param: options.param ?? null,
    message: errorMessage,
  },
});
