/** The contract for a maker's interface: one request, and its streamed answer as items of a turn. */
import type { OutputItem, Usage } from '@liminal/protocol';
import type { AnswerWriter } from './answer-writer.ts';
import type { Citation } from './citations.ts';

/** A tool as it is described to a model. */
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
   * The conversation as the log has it, oldest first: messages (those of `user` with the bytes of their `blocks`),
   * reasoning, calls and their outputs, of any maker. `raw` is only for the maker that sent it. Every call has its output
   * after it.
   */
  conversation: readonly OutputItem[];
  /** The ids of all calls, including calls that were converted to words; default: the ids of `conversation`'s calls. */
  callIds?: readonly string[];
  /** Empty for a model that calls no tools: the conversation then has no calls and outputs. */
  tools: readonly ToolDefinition[];
  /** Whether the model must answer in words: tools are listed only because the conversation has calls of them. */
  isWithoutCalls?: boolean;
  /** How much the model should think, if that can be set: `none`, `low`, `medium`, `high`. */
  effort?: string | undefined;
  /** The field in which the server wants the reasoning that led to a call; found and set by the makers' clients. */
  reasoningField?: string | undefined;
  /** Values that a client has made of items and tools in earlier requests of the turn, keyed by them; it may add values. */
  made?: WeakMap<object, unknown>;
}

/** The result of one answer, once its stream has ended. */
export interface ModelAnswer {
  /** The calls whose outputs the model waits for, in the model's order. */
  calls: readonly ModelCall[];
  /** The maker's own finish reason. */
  finishReason: string;
  /** Tokens of this request alone, without a price. `inputTokens` counts all input, cached or not. */
  usage: Usage | undefined;
  /** The number of web searches by the maker, as far as the maker counts them. */
  searches?: number;
  /** Whether the model has paused; it continues when its own items are sent back. */
  isPaused?: boolean;
  /** The citations, in the order of the text. */
  citations?: readonly Citation[];
}

export interface ModelCall {
  callId: string;
  name: string;
  /** A JSON string as the model wrote it; may be invalid JSON. */
  arguments: string;
  /** The id of the call's item. */
  itemId: string;
}

export interface ListedModel {
  id: string;
  /** The name for people, if the server sends one. */
  name?: string | undefined;
  /** The context window in tokens, if the server sends it. */
  contextWindow?: number | undefined;
  /** Whether the model calls tools, if the server says so. */
  callsTools?: boolean | undefined;
}

/** A client for one model server, in one maker's interface. */
export interface ModelClient {
  /** The maker of the interface: `openai`, `anthropic`. */
  readonly providerId: string;
  /** The models that the server lists. Rejects with ModelError. */
  listModels(signal: AbortSignal): Promise<ListedModel[]>;
  /**
   * Makes one request, without retries, and writes the answer as it arrives: starts, extends and ends each item with `writer`.
   * Resolves when the stream is complete. Rejects with ModelError; the caller must end items that are still open. When the
   * signal aborts, the request really ends, and the promise rejects.
   */
  answer(request: ModelRequest, writer: AnswerWriter, signal: AbortSignal): Promise<ModelAnswer>;
}
