import type { StreamIncident, Pace } from '../scripted-server/stream-incident.ts';
import type { Held } from '../scripted-server/script.ts';

/** An error that the API reports inside a stream that began with status 200. */
export interface StreamError {
  type: 'stream_error';
  error: ApiErrorBody;
}

/** The contents of a block: pieces of its text (or of a tool's JSON), and incidents that happen between them. */
export type Part = string | StreamIncident | StreamError;

export interface TextBlock extends Pace {
  type: 'text';
  parts: Part[];
}

export interface ThinkingBlock extends Pace {
  type: 'thinking';
  parts: Part[];
  signature: string;
}

export interface ToolUseBlock extends Pace {
  type: 'tool_use';
  name: string;
  parts: Part[];
  /** The id. If it is undefined, the server makes a unique id. */
  id: string | undefined;
}

/**
 * A block of any other kind, in the API's format. The block is complete when it starts, or contains deltas of its own.
 */
export interface GivenBlock extends Pace {
  type: 'given';
  block: Record<string, unknown>;
  deltas: Record<string, unknown>[];
  parts: Part[];
}

export type ReplyBlock = TextBlock | ThinkingBlock | ToolUseBlock | GivenBlock;

export interface ApiErrorBody {
  type: string;
  message: string;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens?: number;
  cache_creation_input_tokens?: number;
}

export interface MessageReply {
  type: 'message';
  blocks: ReplyBlock[];
  stopReason: string;
  /** Why the model refused to answer; sent as `stop_details`. */
  stopDetails: Record<string, unknown> | null;
  /** Whether all blocks start before the first part. Parts of different blocks then alternate. */
  isInterleaved: boolean;
  usage: Usage;
  headers: Record<string, string>;
}

export interface ErrorReply {
  type: 'error';
  status: number;
  error: ApiErrorBody;
  headers: Record<string, string>;
}

export type Reply = MessageReply | ErrorReply | Held<Reply>;

export const streamError = (type: string, message: string): StreamError => ({
  type: 'stream_error',
  error: { type, message },
});

export const text = (parts: string | Part[], pace: Pace = {}): TextBlock => ({
  type: 'text',
  parts: typeof parts === 'string' ? [parts] : parts,
  ...pace,
});

export const thinking = (
  parts: string | Part[],
  options: Pace & { signature?: string } = {},
): ThinkingBlock => ({
  type: 'thinking',
  parts: typeof parts === 'string' ? [parts] : parts,
  signature: options.signature ?? 'c2lnbmF0dXJl',
  ...options,
});

/** Makes a tool call. The incidents in `before` happen after the block has started and before its arguments arrive. */
export const toolUse = (
  name: string,
  input: Record<string, unknown>,
  options: Pace & { id?: string; before?: Part[] } = {},
): ToolUseBlock => ({
  type: 'tool_use',
  name,
  id: options.id,
  parts: [...(options.before ?? []), JSON.stringify(input)],
  ...(options.chunk === undefined ? {} : { chunk: options.chunk }),
  ...(options.delayMs === undefined ? {} : { delayMs: options.delayMs }),
});

/** Makes a block of a kind for which no function exists here: redacted thinking, a server tool, or a future kind. */
export const given = (
  block: Record<string, unknown>,
  deltas: Record<string, unknown>[] = [],
): GivenBlock => ({ type: 'given', block, deltas, parts: [] });

interface ReplyOptions {
  stopReason?: string;
  stopDetails?: Record<string, unknown>;
  isInterleaved?: boolean;
  usage?: Usage;
  headers?: Record<string, string>;
}

/** Makes one complete answer of the model. By default, the stop reason follows from the blocks. */
export const reply = (
  blocks: string | ReplyBlock | ReplyBlock[],
  options: ReplyOptions = {},
): MessageReply => {
  const list =
    typeof blocks === 'string' ? [text(blocks)] : Array.isArray(blocks) ? blocks : [blocks];
  const callsTool = list.some((block) => block.type === 'tool_use');
  return {
    type: 'message',
    blocks: list,
    stopReason: options.stopReason ?? (callsTool ? 'tool_use' : 'end_turn'),
    stopDetails: options.stopDetails ?? null,
    isInterleaved: options.isInterleaved ?? false,
    usage: options.usage ?? { input_tokens: 10, output_tokens: 5 },
    headers: options.headers ?? {},
  };
};

const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

/** Makes an HTTP error in the format of the Messages API. */
export const apiError = (
  status: number,
  message = `scripted error ${status}`,
  headers: Record<string, string> = {},
): ErrorReply => ({
  type: 'error',
  status,
  error: { type: errorTypes[status] ?? 'api_error', message },
  headers,
});
