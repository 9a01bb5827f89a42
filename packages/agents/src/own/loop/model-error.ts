import { type ErrorObject, LiminalError } from '@liminal/protocol';

export type ModelErrorCode =
  | 'RATE_LIMIT'
  | 'CONTENT_FILTER'
  | 'CONTEXT_LENGTH'
  /** The key is missing or wrong, or has no access to this model. */
  | 'AUTHENTICATION'
  | 'MODEL_NOT_FOUND'
  /** The model has no tools: the caller should repeat the request without tools. */
  | 'NO_TOOLS'
  /** The server is overloaded, has failed, or is not configured correctly. */
  | 'MODEL_UNAVAILABLE'
  /** The server could not be reached, or the connection broke off. */
  | 'CONNECTION_FAILED'
  /** The server rejected the request, or its answer could not be parsed. */
  | 'MODEL_ERROR';

/** Messages with which OpenRouter, Ollama, vLLM and llama.cpp report that a model has no tools. */
export const lacksTools =
  /does not support (tools|tool (use|calls?|calling)|function calling)|tools? (use |calling )?(is|are) not supported|no endpoints found that support tool use|--enable-auto-tool-choice|tools param requires --jinja/i;

/**
 * The error for an answer that is not complete. The message is a sentence for people that includes the server's
 * message.
 */
export class ModelError extends LiminalError {
  declare readonly code: ModelErrorCode;
  /** Whether the same request may succeed if it is sent again later. */
  readonly isPassing: boolean;
  /** The delay before the next request that the server asks for, in ms. */
  readonly retryAfterMs: number | undefined;
  readonly details: unknown;

  constructor(
    code: ModelErrorCode,
    message: string,
    options: {
      isPassing?: boolean;
      retryAfterMs?: number | undefined;
      details?: unknown;
      cause?: unknown;
    } = {},
  ) {
    super(code, message, { cause: options.cause });
    this.isPassing = options.isPassing ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
  }

  get asObject(): ErrorObject {
    const { code, message, details } = this;
    return { code, message, ...(details !== undefined && { details }) };
  }
}
