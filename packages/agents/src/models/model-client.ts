/** The contract for a maker of models: one request, and its streamed answer as items of a turn. */
import type { OutputItem, Usage } from '@liminal/protocol';
import type { AnswerWriter } from './answer-writer.ts';
import type { Citation } from './citations.ts';

/** A tool as a model is told of it. */
export interface ToolFace {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  model: string;
  /** What the model is told before the conversation. */
  instructions: string;
  /**
   * The conversation as the log has it, oldest first: messages (those of `user` with the bytes of their `blocks`),
   * reasoning, calls and their outputs, of any maker. What `raw` holds is only for the maker that gave it. Every call has
   * its output after it.
   */
  conversation: readonly OutputItem[];
  /** The ids of all its calls, those that are told in words among them; default: those of its calls. */
  callIds?: readonly string[];
  /** None for a model that calls none: then the conversation has no calls and no outputs either. */
  tools: readonly ToolFace[];
  /** The tools are only told, since the conversation has calls of them: the model is to answer in words. */
  isWithoutCalls?: boolean;
  /** How much the model is to think, if it can be told: `none`, `low`, `medium`, `high`. */
  effort?: string | undefined;
  /** The field in which the server wants the reasoning that led to a call; the makers' clients find and set it. */
  reasoningField?: string | undefined;
  /** What a maker has made of items and tools in earlier requests of the turn, by them; it may add to it. */
  made?: WeakMap<object, unknown>;
}

/** What one answer came to, once its stream has ended. */
export interface ModelAnswer {
  /** The calls that the model waits for, in its order. */
  calls: readonly ModelCall[];
  /** The maker's own word for why the answer ended. */
  finishReason: string;
  /** Tokens of this request alone; without a price. `inputTokens` are all of its input, cached or not. */
  usage: Usage | undefined;
  /** How often the maker has searched the web for it, as far as the maker counts that. */
  searches?: number;
  /** The model has paused, and goes on when it is given its own words back. */
  isPaused?: boolean;
  /** What the answer cites, in the order of its text. */
  citations?: readonly Citation[];
}

export interface ModelCall {
  callId: string;
  name: string;
  /** A JSON string as the model wrote it; possibly no JSON at all. */
  arguments: string;
  /** The id of the call's item. */
  itemId: string;
}

export interface ListedModel {
  id: string;
  /** For people, if the server says one. */
  name?: string | undefined;
  /** Tokens that it can take, if the server says so. */
  contextWindow?: number | undefined;
  /** Whether it calls tools, if the server says so. */
  callsTools?: boolean | undefined;
}

/** One model server, by the interface that it speaks. */
export interface ModelClient {
  /** Whose interface it is: `openai`, `anthropic`. */
  readonly providerId: string;
  /** The models that the server lists. Rejects with ModelError. */
  listModels(signal: AbortSignal): Promise<ListedModel[]>;
  /**
   * Asks once, without retrying, and writes the answer as it comes: each item is started, grown and ended with `writer`.
   * Resolves when the stream is whole. Rejects with ModelError; items that are open then are the caller's. When the signal
   * aborts, the request really ends, and the promise rejects.
   */
  answer(request: ModelRequest, writer: AnswerWriter, signal: AbortSignal): Promise<ModelAnswer>;
}
