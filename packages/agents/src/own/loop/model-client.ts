/** The interface of the clients for makers' APIs: one request, and its streamed answer as items of a turn. */
import type { OutputItem, Usage } from '@liminal/protocol';
import type { AnswerWriter } from './answer-writer.ts';
import type { Citation } from './citations.ts';

/** The description of a tool that a model gets. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  model: string;
  /** The system prompt. */
  instructions: string;
  /**
   * The conversation as in the log, oldest first: messages (user messages with the bytes of their `blocks`), reasoning,
   * calls and their outputs, from any maker. Only the client of the maker that sent a `raw` value may use the value.
   * Every call is followed by its output.
   */
  conversation: readonly OutputItem[];
  /**
   * The ids of all calls, including calls that were converted to text; default: the ids of the calls in `conversation`.
   */
  callIds?: readonly string[];
  /** Empty for a model without tools; the conversation then has no calls and outputs. */
  tools: readonly ToolDefinition[];
  /**
   * Whether the model must answer in text. The tools are then listed only because earlier items are calls of these
   * tools.
   */
  isWithoutCalls?: boolean;
  /** The amount of thinking, if the model has such a setting: `none`, `low`, `medium`, `high`. */
  effort?: string | undefined;
  /**
   * The name of the field in which the server expects the reasoning before a call; the makers' clients find the name
   * and set this field.
   */
  reasoningField?: string | undefined;
  /**
   * A cache, by item or tool, of values that a client has computed in earlier requests of the turn. Clients may add
   * values.
   */
  made?: WeakMap<object, unknown>;
}

/** The result of one answer whose stream has ended. */
export interface ModelAnswer {
  /** The calls for which the model waits, in the model's order. */
  calls: readonly ModelCall[];
  /** The finish reason in the maker's own term. */
  finishReason: string;
  /** The token counts of this request alone, without a price. `inputTokens` counts all input, from the cache or not. */
  usage: Usage | undefined;
  /** The number of web searches that the maker has counted. */
  searches?: number;
  /**
   * Whether the model has paused. The model continues when a request contains the items that the model has written so
   * far.
   */
  isPaused?: boolean;
  /** The citations, in the order in which the text refers to them. */
  citations?: readonly Citation[];
}

export interface ModelCall {
  callId: string;
  name: string;
  /** The JSON text that the model wrote; may be invalid JSON. */
  arguments: string;
  /** The id of the call's item. */
  itemId: string;
}

export interface ListedModel {
  id: string;
  /** The name for people, if the server reports a name. */
  name?: string | undefined;
  /** The size of the context window in tokens, if the server reports the size. */
  contextWindow?: number | undefined;
  /** Whether the model accepts tools; undefined if the server does not report whether it does. */
  callsTools?: boolean | undefined;
}

/** A client for one model server, for the API of one maker. */
export interface ModelClient {
  /** The maker of the API: `openai`, `anthropic`. */
  readonly providerId: string;
  /** Returns the models in the server's list. Rejects with ModelError. */
  listModels(signal: AbortSignal): Promise<ListedModel[]>;
  /**
   * Makes one request, without retries, and writes the answer to `writer` while it arrives: starts, extends and ends
   * each item. Resolves when the stream is complete. Rejects with ModelError; the caller must then end the items that
   * are still open. If the signal aborts, the HTTP request ends, and the promise rejects.
   */
  answer(request: ModelRequest, writer: AnswerWriter, signal: AbortSignal): Promise<ModelAnswer>;
}
