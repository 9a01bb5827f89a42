import { asError, type OutputItem } from '@liminal/protocol';
import { OpenAI } from 'openai';
import type { AnswerWriter } from '../models/answer-writer.ts';
import {
  type ListedModel,
  type ModelAnswer,
  type ModelClient,
  ModelError,
  type ModelRequest,
} from '../models/model-client.ts';
import { chunksOf } from './answer-stream.ts';
import { CallIds } from './call-ids.ts';
import { chatRequest } from './chat/request.ts';
import { ChatTranslator } from './chat/translate.ts';
import { callIdsOf } from '../models/conversation.ts';
import { withoutFiles } from './conversation.ts';
import {
  brokeOff,
  type Complaint,
  errorOfComplaint,
  isForeignReasoning,
  lacksEndpoint,
  readComplaint,
  refusedFiles,
} from './errors.ts';
import { jsonOf } from './json.ts';
import { readModels, readOwnModels } from './listed-models.ts';
import { RefusedFields } from './refused-fields.ts';
import { responsesRequest } from './responses/request.ts';
import { ResponsesTranslator } from './responses/translate.ts';
import { Sdk } from './sdk.ts';

type Api = 'responses' | 'chat';

export interface OpenAiClientOptions {
  /** Where the server is; most end in `/v1`. Default: OpenAI's own. */
  baseUrl?: string | undefined;
  /** A local server needs none; without it no key is sent. */
  apiKey?: string | undefined;
  /** The interface to speak. Default: Responses, and Chat Completions where a server lacks it. */
  api?: Api | undefined;
}

const openAi = 'https://api.openai.com/v1';
/** How long a list of models may take, ms. */
const listTimeoutMs = 15_000;

const jsonType = { 'content-type': 'application/json' };

const interfaces = {
  responses: {
    path: '/responses',
    request: responsesRequest,
    translator: ResponsesTranslator,
  },
  chat: {
    path: '/chat/completions',
    request: chatRequest,
    translator: ChatTranslator,
  },
};

/** OpenAI, and every server that speaks one of its interfaces: Ollama, vLLM, llama.cpp, gateways. */
export class OpenAiClient implements ModelClient {
  readonly providerId = 'openai';
  readonly #sdk: Sdk;
  readonly #baseUrl: string;
  readonly #apiKey: string | undefined;
  readonly #refused = new RefusedFields();
  /** Undefined until a server has answered. */
  #api: Api | undefined;

  constructor({ baseUrl = openAi, apiKey, api }: OpenAiClientOptions = {}) {
    this.#baseUrl = baseUrl;
    this.#apiKey = apiKey === '' ? undefined : apiKey;
    this.#api = api;
    this.#sdk = new Sdk(baseUrl, this.#apiKey);
  }

  async listModels(signal: AbortSignal): Promise<ListedModel[]> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(listTimeoutMs)]);
    try {
      const response = await this.#sdk.get('/models', { signal: limit }).asResponse();
      const list: unknown = await response.json();
      return this.#baseUrl === openAi ? readOwnModels(list) : readModels(list);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#errorOf(error);
    }
  }

  async answer(
    request: ModelRequest,
    writer: AnswerWriter,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    try {
      return await this.#ask(this.#api ?? 'responses', request, writer, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#errorOf(error);
    }
  }

  async #ask(
    api: Api,
    request: ModelRequest,
    writer: AnswerWriter,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    let isMarked = false;
    const translator = new interfaces[api].translator(
      writer,
      new CallIds(request.callIds ?? callIdsOf(request.conversation)),
    );
    try {
      const response = await this.#post(api, request, signal);
      for await (const { chunks, isEnd } of chunksOf(response)) {
        signal.throwIfAborted();
        if (chunks.length > 0) this.#api ??= api;
        for (const chunk of chunks) translator.read(chunk);
        isMarked = isEnd;
      }
    } catch (error) {
      const complaint = complaintIn(error);
      const isLacking = complaint !== undefined && lacksEndpoint(complaint);
      if (this.#api !== undefined || api === 'chat' || !isLacking) throw error;
      return this.#ask('chat', request, writer, signal);
    }
    return translator.end(isMarked);
  }

  /** Asks again without what the server does not take, if the request can do without it. */
  async #post(api: Api, request: ModelRequest, signal: AbortSignal): Promise<Response> {
    const { path, request: bodyOf } = interfaces[api];
    let { conversation } = request;
    for (;;) {
      const body = this.#refused.without(request.model, bodyOf({ ...request, conversation }));
      try {
        const sent = { body: jsonOf(body), headers: jsonType, signal, stream: true };
        return await this.#sdk.post(path, sent).asResponse();
      } catch (error) {
        const complaint = complaintIn(error);
        if (complaint === undefined) throw error;
        const less = lessOf(conversation, complaint);
        conversation = less ?? conversation;
        const isLearnt = this.#refused.learn(request.model, body, complaint);
        if (less === undefined && !isLearnt) throw error;
      }
    }
  }

  #errorOf(error: unknown): ModelError {
    const known = error instanceof ModelError ? error : this.#errorOfThrown(error);
    const key = this.#apiKey;
    const said = `${known.message} ${JSON.stringify(known.details) ?? ''}`;
    if (key === undefined || !said.includes(key)) return known;
    // A server has repeated the key.
    const { code, message, isPassing, retryAfterMs } = known;
    return new ModelError(code, message.replaceAll(key, '…'), { isPassing, retryAfterMs });
  }

  #errorOfThrown(error: unknown): ModelError {
    const complaint = complaintIn(error);
    if (complaint !== undefined) {
      const headers = error instanceof OpenAI.APIError ? (error.headers as Headers) : undefined;
      return errorOfComplaint(complaint, { headers, cause: error });
    }
    if (isOfConnection(error)) return this.#unreachable(error);
    const code = networkCode(error);
    if (code !== undefined || asError(error).message === 'terminated') return brokeOff(error);
    const message = `The answer of the model’s server cannot be read: ${asError(error).message}`;
    return new ModelError('MODEL_ERROR', message, { cause: error });
  }

  #unreachable(error: unknown): ModelError {
    const code = networkCode(error);
    const reason = code === undefined ? '' : ` (${code})`;
    const { origin } = URL.parse(this.#baseUrl) ?? { origin: 'the address that is configured' };
    return new ModelError(
      'CONNECTION_FAILED',
      `The model’s server could not be reached at ${origin}${reason}. Check that it runs there.`,
      { isPassing: code !== 'ENOTFOUND', cause: error },
    );
  }
}

/** A conversation without what the server cannot take of it; undefined if it complains of nothing that can be left out. */
function lessOf(
  conversation: readonly OutputItem[],
  complaint: Complaint,
): readonly OutputItem[] | undefined {
  let less = conversation;
  if (isForeignReasoning(complaint)) less = less.filter(({ type }) => type !== 'reasoning');
  const isRefused = refusedFiles(complaint);
  if (isRefused !== undefined) less = less.map((item) => withoutFiles(item, isRefused));
  const isLess =
    less.length < conversation.length || less.some((item, index) => item !== conversation[index]);
  return isLess ? less : undefined;
}

/** What a server has answered; undefined if it has not. */
function complaintIn(error: unknown): Complaint | undefined {
  if (!(error instanceof OpenAI.APIError) || error.status === undefined) return undefined;
  const status = error.status as number;
  const body: unknown = error.error;
  // The SDK puts the status before a text.
  return readComplaint(
    body ?? error.message.replace(/^\d+ (status code \(no body\))?/, ''),
    status,
  );
}

/** Also when a list takes too long, which is our own limit. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof OpenAI.APIConnectionError ||
  error instanceof OpenAI.APIUserAbortError ||
  (error instanceof DOMException && error.name === 'TimeoutError');

/** The system's own word for what went wrong with a connection. */
function networkCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}
